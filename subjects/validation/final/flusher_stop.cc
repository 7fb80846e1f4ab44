// A journal collects entries; a flusher thread writes them out.
// Bug (deadlock): `stop` joins the flusher while it holds the lock of the journal, which the flusher
// needs for its last pass.
// Consequence: deadlock
// The twin is flusher_stop_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Journal {
public:
    void start() {
        flusher_ = std::thread([this] {
            for (int pass = 0; pass < 2 && !stopping_.load(); pass++) flush();
        });
    }

    void add(const std::string &entry) {
        std::lock_guard<std::mutex> guard(lock_);
        entries_.push_back(entry);
    }

    void stop() {
#ifdef FIXED
        stopping_.store(true);
        flusher_.join();
        flush();
#else
        std::lock_guard<std::mutex> guard(lock_);
        stopping_.store(true);
        flusher_.join();
        write();
#endif
    }

    void wait_for_flush() {
        std::unique_lock<std::mutex> guard(lock_);
        flushed_.wait(guard, [this] { return written_ > 0; });
    }

    int written() const { return written_; }

private:
    void flush() {
        std::lock_guard<std::mutex> guard(lock_);
        write();
    }

    void write() {
        written_ += static_cast<int>(entries_.size());
        entries_.clear();
        flushed_.notify_all();
    }

    std::mutex lock_;
    std::condition_variable flushed_;
    std::vector<std::string> entries_;
    std::thread flusher_;
    std::atomic<bool> stopping_{false};
    int written_ = 0;
};

int main() {
    Journal journal;
    journal.add("begin");
    journal.start();
    journal.wait_for_flush();
    journal.add("end");
    journal.stop();
    std::printf("%d entries\n", journal.written());
    assert(journal.written() == 2);
}
