// The twin of timed.cc: when the time runs out, the guest looks whether there is a meal, and leaves
// without one if not. It never fails.
#undef NDEBUG
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable served;
static int meal;
static bool ready;

static void wait_for_meal() {
    auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    std::unique_lock<std::mutex> hold(lock);
    while (!ready) {
        if (served.wait_until(hold, until) == std::cv_status::timeout) break; /* A1 */
    }
    if (!ready) {
        std::puts("left without a meal");
        return;
    }
    int mine = meal; /* A2 */
    assert(mine == 3);
}

static void cook() {
    std::lock_guard<std::mutex> hold(lock); /* B1 */
    meal = 3;                               /* B2 */
    ready = true;
    served.notify_one(); /* B3 */
}

int main() {
    std::thread guest(wait_for_meal);
    std::thread chef(cook);
    guest.join();
    chef.join();
    std::printf("meal: %d\n", meal);
}
