// A lock that spins three times, and then parks the thread until the holder wakes it.
// Bug (lost wake-up): the thread does not look at the lock again after it has said that it is parked.
// Deep: three tries must fail, which needs a holder that is interrupted; then the holder must release the
// lock before the thread has said that it is parked.
// Consequence: hang
// The twin is parking_lock_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

static std::atomic<bool> held{false};
static std::atomic<int> parked{0};
static std::mutex guard;
static std::condition_variable wake;
static int signals = 0;

static void lock() {
    for (;;) {
        for (int i = 0; i < 3; i++) {
            if (!held.exchange(true)) return;
            std::this_thread::yield();
        }
        std::unique_lock<std::mutex> it(guard);
        parked.fetch_add(1);
#ifdef FIXED
        if (!held.exchange(true)) { parked.fetch_sub(1); return; }
#endif
        wake.wait(it, [] { return signals > 0; });
        signals--;
        parked.fetch_sub(1);
    }
}

static void unlock() {
    held.store(false);
    if (parked.load() > 0) {
        std::lock_guard<std::mutex> it(guard);
        signals++;
        wake.notify_one();
    }
}

static std::atomic<int> count{0};

int main() {
    auto work = [] { lock(); count.fetch_add(1); unlock(); };
    std::thread a(work), b(work);
    a.join();
    b.join();
    std::printf("%d\n", count.load());
}
