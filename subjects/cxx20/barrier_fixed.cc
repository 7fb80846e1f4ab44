// The twin of barrier.cc: a worker adds to a total in the second phase of a barrier.
// The first thread adds before that: a phase begins when all threads have completed the one
// before.
// Finds: nothing harmful
// Flags: -std=c++20
#undef NDEBUG
#include <cassert>
#include <barrier>
#include <thread>

static int total;
static std::barrier gate(2);

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
    gate.arrive_and_wait();
    worker.join();
    assert(total == 2);
}
