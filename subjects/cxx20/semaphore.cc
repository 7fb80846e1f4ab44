// A worker adds to a total when it has acquired a semaphore.
// Bug: the first thread adds after it has let the worker go on, so that one of the two may be
// lost.
// Finds: race on total; assertion
// The twin is semaphore_fixed.cc.
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
    gate.release();
    add();
    worker.join();
    assert(total == 2);
}
