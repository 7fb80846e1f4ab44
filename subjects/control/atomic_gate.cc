// A buyer waits by `std::atomic::wait` until the shop is open, and looks at the price.
// Bug: the shop opens before the price is set.
// Consequence: assertion, the price is still 0.
// The twin, atomic_gate_fixed.cc, never fails.
// Flags: -std=c++20
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

static std::atomic<int> gate{0};
static int price;

static void buy() {
    gate.wait(0);
    int seen = price; /* B1 */
    assert(seen == 5);
}

int main() {
    std::thread buyer(buy);
    gate.store(1);
    gate.notify_one();
    price = 5; /* A1 */
    buyer.join();
    std::puts("sold");
    return 0;
}
