// The twin of once_race.cc: T0 and T0.1 make sure that something is initialised; std::call_once
// lets one of them do it and the other wait. It never fails.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>

static std::once_flag done;
static std::atomic<int> times;
static int value;

static void initialise() {
    int before = times.fetch_add(1); /* A2 */
    assert(before == 0);
    value = 5;
}

static void use() {
    std::call_once(done, initialise); /* A1 */
}

int main() {
    std::thread other(use);
    use();
    other.join();
    std::printf("value: %d, initialised: %d\n", value, times.load());
}
