// A client asks for a lease and waits for it for a limited time; if it comes too late, it is refused.
// Bug (order violation, timeout): the client gives up in a second critical section after its wait has timed
// out, and the lease may be granted in between. Then nobody returns it.
// Deep: the wait must time out, and the server must grant between the wait and the refusal.
// Consequence: assertion
// The twin is timed_lease_fixed.cc.
#undef NDEBUG
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

class Leases {
  public:
    bool acquire() {
        std::unique_lock<std::mutex> guard(lock_);
        asked_ = true;
        changed_.notify_all();
        auto limit = std::chrono::milliseconds(200);
        bool in_time = changed_.wait_for(guard, limit, [&] { return granted_; });
        if (in_time) return true;
#ifndef FIXED
        guard.unlock();
        guard.lock();
#endif
        refused_ = true;
        return false;
    }

    void give_back() {
        std::lock_guard<std::mutex> guard(lock_);
        leased_--;
    }

    void serve() {
        std::unique_lock<std::mutex> guard(lock_);
        changed_.wait(guard, [&] { return asked_; });
        guard.unlock();
        prepare();
        guard.lock();
        if (refused_) return;
        granted_ = true;
        leased_++;
        changed_.notify_all();
    }

    int leased() {
        std::lock_guard<std::mutex> guard(lock_);
        return leased_;
    }

  private:
    void prepare() {
        std::lock_guard<std::mutex> guard(lock_);
        prepared_++;
    }

    std::mutex lock_;
    std::condition_variable changed_;
    bool asked_ = false, granted_ = false, refused_ = false;
    int leased_ = 0, prepared_ = 0;
};

int main() {
    Leases leases;
    std::thread server([&] { leases.serve(); });
    std::thread client([&] {
        if (leases.acquire()) leases.give_back();
    });
    client.join();
    server.join();
    std::printf("lease over\n");
    assert(leases.leased() == 0);
}
