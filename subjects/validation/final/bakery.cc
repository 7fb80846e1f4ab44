// Lamport's bakery lock: a thread draws a number that is larger than all others and waits for its turn.
// Bug (atomicity violation): a thread does not announce that it is drawing, so that two can draw the same
// number, and the one that is slower to write it down does not wait for the other.
// Deep: both must draw at the same time, and one must be inside when the other writes its number.
// Consequence: assertion
// The twin is bakery_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>
#include <vector>

static const int threads = 2;
static std::atomic<int> number[threads];
static std::atomic<bool> drawing[threads];
static std::atomic<int> inside{0};
static std::atomic<int> served{0};

static int draw() {
    int largest = 0;
    for (int i = 0; i < threads; i++) {
        int it = number[i].load();
        if (it > largest) largest = it;
    }
    return largest + 1;
}

static bool is_before(int one, int other) {
    int mine = number[one].load(), theirs = number[other].load();
    if (mine == 0) return false;
    return mine < theirs || (mine == theirs && one < other);
}

static void enter(int me) {
#ifdef FIXED
    drawing[me].store(true);
#endif
    number[me].store(draw());
#ifdef FIXED
    drawing[me].store(false);
#endif
    for (int i = 0; i < threads; i++) {
        if (i == me) continue;
        while (drawing[i].load()) std::this_thread::yield();
        while (is_before(i, me)) std::this_thread::yield();
    }
}

static void leave(int me) {
    number[me].store(0);
}

static void buy(int me) {
    for (int i = 0; i < 2; i++) {
        enter(me);
        int others = inside.fetch_add(1);
        assert(others == 0);
        served.fetch_add(1);
        inside.fetch_sub(1);
        leave(me);
    }
}

int main() {
    std::vector<std::thread> customers;
    for (int i = 0; i < threads; i++) customers.emplace_back(buy, i);
    for (std::thread &it : customers) it.join();
    std::printf("%d served\n", served.load());
    assert(served.load() == 2 * threads);
}
