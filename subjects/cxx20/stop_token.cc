// A worker adds to a total when it is asked to stop.
// Bug: the first thread adds after it has let the worker go on, so that one of the two may be
// lost.
// Finds: race on total; assertion
// The twin is stop_token_fixed.cc.
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
    gate.request_stop();
    add();
    worker.join();
    assert(total == 2);
}
