// Two threads take a random number of steps each; the numbers come from `std::random_device`.
// Bug: nothing protects the number of steps: some are lost.
// Finds: race on steps; assertion
// The twin is random_device_fixed.cc.
#undef NDEBUG
#include <cassert>
#include <random>
#include <thread>

static unsigned steps;

static void walk(unsigned count) {
    for (unsigned i = 0; i < count; i++) {
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
