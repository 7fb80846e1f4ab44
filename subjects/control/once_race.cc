// T0 and T0.1 make sure that something is initialised, once.
// Bug: the once flag is made by hand: looked at, and set only after the initialisation. A thread
// that looks in the meantime initialises again.
// Consequence: assertion, the second initialisation finds the first.
// The twin, once_race_fixed.cc, never fails.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

static std::atomic<bool> done;
static std::atomic<int> times;
static int value;

static void initialise() {
    int before = times.fetch_add(1); /* A2 */
    assert(before == 0);
    value = 5;
}

static void use() {
    bool is_done = done.load(); /* A1 */
    if (!is_done) {
        initialise();
        done.store(true); /* A3 */
    }
}

int main() {
    std::thread other(use);
    use();
    other.join();
    std::printf("value: %d, initialised: %d\n", value, times.load());
}
