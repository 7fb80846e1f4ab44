// The twin of byte_wait.cc: a worker adds to a total as soon as a flag of one byte is set, for
// which it waits by `std::atomic::wait`: the library waits for a word of its own instead.
// The first thread adds before that: `wait` returns after the store of the value that it sees.
// Finds: nothing harmful
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
    add();
    gate.store(true);
    gate.notify_all();
    worker.join();
    assert(total == 2);
}
