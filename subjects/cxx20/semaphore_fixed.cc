// The twin of semaphore.cc: a worker adds to a total when it has acquired a semaphore.
// The first thread adds before that: a semaphore is released before it is acquired.
// Finds: nothing harmful
// Flags: -std=c++20
#undef NDEBUG
#include <cassert>
#include <semaphore>
#include <thread>

static int total;
static std::counting_semaphore<8> gate(0);

static void add() {
    int seen = total;
    total = seen + 1;
}

static void work() {
    gate.acquire();
    add();
}

int main() {
    std::thread worker(work);
    add();
    gate.release();
    worker.join();
    assert(total == 2);
}
