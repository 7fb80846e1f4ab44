// A worker says that it is done, and then corrects its result, before it notifies the thread that waits.
// Bug: that thread need not wait if it comes late. Both read the result by the same function, so nothing but the way
// past the wait tells the runs apart.
// Finds: race on result; none
// The twin is late_result_fixed.cc.
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable finished;
static bool done;
static int result;

[[gnu::noinline]] static int current() { return result; }

static void work() {
#ifdef FIXED
    result = current() + 1;
#endif
    {
        std::lock_guard<std::mutex> guard(lock);
        done = true;
    }
#ifndef FIXED
    result = current() + 1;
#endif
    finished.notify_all();
}

int main() {
    std::thread worker(work);
    int seen;
    {
        std::unique_lock<std::mutex> guard(lock);
        finished.wait(guard, [] { return done; });
        seen = current();
    }
    worker.join();
    return seen <= 1 ? 0 : 1;
}
