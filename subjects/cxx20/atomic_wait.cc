// A worker adds to a total as soon as an atomic variable has another value, for which it waits by
// `std::atomic::wait`.
// Bug: the first thread adds after it has let the worker go on, so that one of the two may be
// lost.
// Finds: race on total; assertion
// The twin is atomic_wait_fixed.cc.
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
    gate.store(1, std::memory_order_release);
    gate.notify_one();
    add();
    worker.join();
    assert(total == 2);
}
