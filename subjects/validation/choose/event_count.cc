// Consumers of a counter of work sleep if there is none; a producer wakes them only if somebody sleeps.
// Bug (lost wake-up): a consumer says that it sleeps after it has looked for work for the last time.
// Deep: the path is taken only if there is no work, and all work must be added between the two, or the next of it wakes
// the consumer.
// Consequence: deadlock
// The twin is event_count_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

class Work {
public:
    void add() {
        count_.fetch_add(1);
        if (sleepers_.load() > 0) {
            std::lock_guard<std::mutex> guard(lock_);
            epoch_++;
            wake_.notify_all();
        }
    }
    void take() {
        for (;;) {
            for (int spin = 0; spin < 2; spin++)
                if (try_take()) return;
            std::unique_lock<std::mutex> guard(lock_);
            int epoch = epoch_;
#ifdef FIXED
            sleepers_.fetch_add(1);
            if (try_take()) {
                sleepers_.fetch_sub(1);
                return;
            }
#else
            if (try_take()) return;
            sleepers_.fetch_add(1);
#endif
            wake_.wait(guard, [&] { return epoch_ != epoch; });
            sleepers_.fetch_sub(1);
        }
    }

private:
    bool try_take() {
        int have = count_.load();
        while (have > 0)
            if (count_.compare_exchange_weak(have, have - 1)) return true;
        return false;
    }
    std::atomic<int> count_{0}, sleepers_{0};
    std::mutex lock_;
    std::condition_variable wake_;
    int epoch_ = 0;
};

int main() {
    Work work;
    std::thread producer([&] {
        for (int i = 0; i < 4; i++) work.add();
    });
    auto consume = [&] {
        for (int i = 0; i < 2; i++) work.take();
    };
    std::thread one(consume), two(consume);
    producer.join();
    one.join();
    two.join();
    std::puts("ok");
}
