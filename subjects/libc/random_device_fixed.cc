// The twin of random_device.cc: two threads take a random number of steps each.
// They count their steps with a mutex.
// Finds: nothing harmful
#undef NDEBUG
#include <cassert>
#include <mutex>
#include <random>
#include <thread>

static std::mutex mutex;
static unsigned steps;

static void walk(unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        std::lock_guard<std::mutex> guard(mutex);
        unsigned seen = steps;
        steps = seen + 1;
    }
}

int main() {
    std::random_device device;
    unsigned first = 1 + device() % 8, second = 1 + device() % 8;
    std::thread walker(walk, first);
    walk(second);
    walker.join();
    assert(steps == first + second);
}
