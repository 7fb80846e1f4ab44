// A supervisor starts a worker that reports to it, through a channel that the supervisor opens.
// Bug (order violation): the worker may lock the mutex of the channel before it is initialised.
// Consequence: assertion
// The twin is early_handle_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Channel {
    std::mutex lock;
    std::vector<int> reports;

    void report(int value) {
        std::lock_guard<std::mutex> guard(lock);
        reports.push_back(value);
    }
};

class Supervisor {
public:
    void start() {
#ifdef FIXED
        open();
#endif
        worker_ = std::thread([this] {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            for (int i = 1; i <= 3; i++) {
                Channel *channel = channel_.load();
                assert(channel != nullptr);
                channel->report(i);
            }
        });
#ifndef FIXED
        open();
#endif
    }

    int stop() {
        worker_.join();
        int sum = 0;
        for (int it : owned_->reports) sum += it;
        return sum;
    }

private:
    void open() {
        owned_ = std::make_unique<Channel>();
        channel_.store(owned_.get());
    }

    std::thread worker_;
    std::unique_ptr<Channel> owned_;
    std::atomic<Channel *> channel_{nullptr};
};

int main() {
    Supervisor supervisor;
    supervisor.start();
    int sum = supervisor.stop();
    std::printf("%d\n", sum);
    assert(sum == 6);
}
