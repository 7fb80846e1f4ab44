// A worker adds to a total when a latch is open.
// Bug: the first thread adds after it has let the worker go on, so that one of the two may be
// lost.
// Finds: race on total; assertion
// The twin is latch_fixed.cc.
// Flags: -std=c++20
#undef NDEBUG
#include <cassert>
#include <latch>
#include <thread>

static int total;
static std::latch gate(2);

static void add() {
    int seen = total;
    total = seen + 1;
}

static void work() {
    gate.arrive_and_wait();
    add();
}

int main() {
    std::thread worker(work);
    gate.count_down();
    add();
    worker.join();
    assert(total == 2);
}
