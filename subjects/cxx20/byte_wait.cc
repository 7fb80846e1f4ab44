// A worker adds to a total as soon as a flag of one byte is set, for which it waits by
// `std::atomic::wait`: the library waits for a word of its own instead.
// Bug: the first thread adds after it has let the worker go on, so that one of the two may be
// lost.
// Finds: race on total; assertion
// The twin is byte_wait_fixed.cc.
// Flags: -std=c++20
#undef NDEBUG
#include <cassert>
#include <atomic>
#include <thread>

static int total;
static std::atomic<bool> gate{false};

static void add() {
    int seen = total;
    total = seen + 1;
}

static void work() {
    gate.wait(false);
    add();
}

int main() {
    std::thread worker(work);
    gate.store(true);
    gate.notify_all();
    add();
    worker.join();
    assert(total == 2);
}
