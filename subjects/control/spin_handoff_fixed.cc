// The twin of spin_handoff.cc: the client takes down the flag of an old answer before it puts up
// the one of its question. No new answer's flag is taken down: it never fails.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <sched.h>
#include <thread>

alignas(64) static std::atomic<bool> asked;
alignas(64) static std::atomic<bool> answered{true};
alignas(64) static int question;
static int answer;

static void client() {
    bool old = answered.load();
    assert(old);
    question = 21;
    answered.store(false, std::memory_order_release); /* A1 */
    asked.store(true, std::memory_order_release);     /* A2 */
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
