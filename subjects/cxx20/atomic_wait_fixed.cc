// The twin of atomic_wait.cc: a worker adds to a total as soon as an atomic variable has another
// value, for which it waits by `std::atomic::wait`.
// The first thread adds before that: `wait` returns after the store of the value that it sees.
// Finds: nothing harmful
// Flags: -std=c++20
#undef NDEBUG
#include <cassert>
#include <atomic>
#include <thread>

static int total;
static std::atomic<int> gate{0};

static void add() {
    int seen = total;
    total = seen + 1;
}

static void work() {
    gate.wait(0);
    add();
}

int main() {
    std::thread worker(work);
    add();
    gate.store(1, std::memory_order_release);
    gate.notify_one();
    worker.join();
    assert(total == 2);
}
