// The twin of latch.cc: a worker adds to a total when a latch is open.
// The first thread adds before that: a latch opens after everything that was done before it was
// counted down.
// Finds: nothing harmful
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
    add();
    gate.count_down();
    worker.join();
    assert(total == 2);
}
