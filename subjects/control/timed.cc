// A cook promises a meal; the guest waits for it, for two seconds at most.
// Bug: the guest takes the end of the wait for the meal, also when it is only the time that ended.
// Consequence: assertion, if the time runs out. The cook is so fast that it hardly ever does.
// The twin, timed_fixed.cc, never fails.
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
