// A client hands a question to a server and spins until there is an answer; the server spins, with
// sched_yield, until there is a question.
// Bug: the client takes down the flag of an old answer after it has put up the one of its question.
// If the server answers in between, the new answer's flag is taken down.
// Consequence: hang, the client spins for ever.
// The twin, spin_handoff_fixed.cc, never fails.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <sched.h>
#include <thread>

// Each has a cache line to itself: the client's two stores follow each other at once.
alignas(64) static std::atomic<bool> asked;
alignas(64) static std::atomic<bool> answered{true};
alignas(64) static int question;
static int answer;

static void client() {
    bool old = answered.load();
    assert(old);
    question = 21;
    asked.store(true, std::memory_order_release);     /* A1 */
    answered.store(false, std::memory_order_release); /* A2 */
    while (!answered.load()) { /* A3 */
    }
    assert(answer == 42);
}

static void server() {
    while (!asked.load()) { /* B1 */
        sched_yield();
    }
    asked.store(false); /* B2 */
    answer = 2 * question;
    answered.store(true); /* B3 */
}

int main() {
    std::thread one(client);
    std::thread two(server);
    one.join();
    two.join();
    std::printf("answer: %d\n", answer);
}
