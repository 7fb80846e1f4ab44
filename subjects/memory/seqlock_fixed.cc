// The twin of seqlock.cc: the numbers are atomic.
// Finds: nothing harmful
#include <atomic>
#include <cstdio>
#include <thread>

static std::atomic<unsigned> sequence{0};
static std::atomic<int> low{0}, high{0};

static void update(int value) {
    unsigned before = sequence.load(std::memory_order_relaxed);
    sequence.store(before + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    low.store(value, std::memory_order_relaxed);
    high.store(value, std::memory_order_relaxed);
    sequence.store(before + 2, std::memory_order_release);
}

static int difference() {
    for (;;) {
        unsigned before = sequence.load(std::memory_order_acquire);
        int one = low.load(std::memory_order_relaxed);
        int other = high.load(std::memory_order_relaxed);
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
