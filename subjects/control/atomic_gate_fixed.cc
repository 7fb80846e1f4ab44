// The twin of atomic_gate.cc: a buyer waits by `std::atomic::wait` until the shop is open, and looks at the price.
// The price is set before the shop opens.
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
    int seen = price;
    assert(seen == 5);
}

int main() {
    std::thread buyer(buy);
    price = 5;
    gate.store(1);
    gate.notify_one();
    buyer.join();
    std::puts("sold");
    return 0;
}
