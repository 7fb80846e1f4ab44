// A pair of numbers behind a sequence lock: a reader that sees the same even sequence before and after
// has read a consistent pair.
// Bug: the numbers are not atomic, so a reader races with a writer even if it then reads again.
// Finds: race on low, high; none
// The twin is seqlock_fixed.cc.
#include <atomic>
#include <cstdio>
#include <thread>

static std::atomic<unsigned> sequence{0};
static int low, high;

static void update(int value) {
    unsigned before = sequence.load(std::memory_order_relaxed);
    sequence.store(before + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    low = value;
    high = value;
    sequence.store(before + 2, std::memory_order_release);
}

static int difference() {
    for (;;) {
        unsigned before = sequence.load(std::memory_order_acquire);
        int one = low;
        int other = high;
        std::atomic_thread_fence(std::memory_order_acquire);
        if (before % 2 == 0 && sequence.load(std::memory_order_relaxed) == before) return other - one;
        std::this_thread::yield();
    }
}

int main() {
    int seen = 1;
    std::thread reader([&] { seen = difference(); });
    std::thread writer([] {
        update(1);
        update(2);
    });
    writer.join();
    reader.join();
    std::printf("%d\n", seen);
}
