// A ring of four slots between one producer and one consumer; each has an index that the other reads.
// Bug: the producer stores its index relaxed, so the slot before it is not ordered.
// Finds: race on slots; none
// The twin is ring_fixed.cc.
#include <atomic>
#include <cstdio>
#include <thread>

static const unsigned size = 4;
static const unsigned items = 6;
static int slots[size];
static std::atomic<unsigned> head{0};
static std::atomic<unsigned> tail{0};

static void put(int value) {
    unsigned at = tail.load(std::memory_order_relaxed);
    while (at - head.load(std::memory_order_acquire) == size) std::this_thread::yield();
    slots[at % size] = value;
    tail.store(at + 1, std::memory_order_relaxed);
}

static int take() {
    unsigned at = head.load(std::memory_order_relaxed);
    while (tail.load(std::memory_order_acquire) == at) std::this_thread::yield();
    int value = slots[at % size];
    head.store(at + 1, std::memory_order_release);
    return value;
}

int main() {
    int sum = 0;
    std::thread producer([] {
        for (unsigned i = 0; i < items; i++) put(1);
    });
    std::thread consumer([&] {
        for (unsigned i = 0; i < items; i++) sum += take();
    });
    producer.join();
    consumer.join();
    std::printf("%d\n", sum);
}
