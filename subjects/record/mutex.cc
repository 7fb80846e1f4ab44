// The mutexes of C++, taken by their guards.
// Events of T0, in order: `plain` taken and given back twice; `recursive` taken twice; `timed`
// taken by a limited wait; `shared` taken to read, then to write; `first` and `second` taken
// together. T0.1 finds `plain` and `shared` taken: EBUSY (16) twice, and ETIMEDOUT (110) of `timed`.
#include <chrono>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::mutex plain, first, second;
static std::recursive_mutex recursive;
static std::timed_mutex timed;
static std::shared_mutex shared;

int main() {
    plain.lock();
    shared.lock_shared();
    timed.lock();
    std::thread([] {
        int failed = !plain.try_lock() + !shared.try_lock();
        failed += !timed.try_lock_for(std::chrono::milliseconds(1));
        std::printf("%d\n", failed);
    }).join();
    timed.unlock();
    shared.unlock_shared();
    plain.unlock();
    { std::lock_guard<std::mutex> guard(plain); }
    {
        std::lock_guard<std::recursive_mutex> outer(recursive);
        std::lock_guard<std::recursive_mutex> inner(recursive);
    }
    if (timed.try_lock_for(std::chrono::hours(1))) timed.unlock();
    { std::shared_lock<std::shared_mutex> reader(shared); }
    { std::unique_lock<std::shared_mutex> writer(shared); }
    { std::scoped_lock both(first, second); }
}
