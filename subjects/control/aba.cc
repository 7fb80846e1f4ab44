// A stack of three nodes without locks: they are named by indices, the top is exchanged atomically.
// T0.1 takes a node and keeps it; T0 takes two and gives the first of them back.
// Bug: `pop` compares only the index. If the top was taken, and given back after the node below it
// was taken too, the exchange succeeds and puts that node on the stack again (ABA).
// Consequence: assertion, a node is on the stack and in somebody's hands.
// The twin, aba_fixed.cc, never fails.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

static std::atomic<int> below[3] = {{1}, {2}, {-1}};
static std::atomic<int> top{0};
static int kept_by_one, kept_by_two;

static int pop() {
    for (;;) {
        int first = top.load();            /* A1 */
        int second = below[first].load();  /* A2 */
        if (top.compare_exchange_strong(first, second)) return first; /* A3 */
    }
}

static void push(int node) {
    for (;;) {
        int first = top.load();
        below[node].store(first);
        if (top.compare_exchange_strong(first, node)) return; /* B1 */
    }
}

static void keep_first() {
    kept_by_one = pop();
}

static void keep_second() {
    int first = pop();
    kept_by_two = pop();
    push(first);
}

int main() {
    std::thread one(keep_first);
    keep_second();
    one.join();
    int found[3] = {0, 0, 0};
    found[kept_by_one]++;
    found[kept_by_two]++;
    for (int node = top.load(); node >= 0; node = below[node].load()) found[node]++;
    std::printf("found: %d %d %d\n", found[0], found[1], found[2]);
    for (int count : found) assert(count == 1);
}
