// The twin of stop_token.cc: a worker adds to a total when it is asked to stop.
// The first thread adds before that: a request to stop happens before the call that sees it.
// Finds: nothing harmful
// Flags: -std=c++20
#undef NDEBUG
#include <cassert>
#include <stop_token>
#include <thread>

static int total;
static std::stop_source gate;

static void add() {
    int seen = total;
    total = seen + 1;
}

static void work() {
    std::stop_token token = gate.get_token();
    while (!token.stop_requested())
        std::this_thread::yield();
    add();
}

int main() {
    std::thread worker(work);
    add();
    gate.request_stop();
    worker.join();
    assert(total == 2);
}
