// The twin of fence.cc: both threads pass a fence.
// Finds: nothing harmful
#include <atomic>
#include <cstdio>
#include <thread>

static int message;
static std::atomic<int> ready{0};

int main() {
    std::thread producer([] {
        message = 42;
        std::atomic_thread_fence(std::memory_order_release);
        ready.store(1, std::memory_order_relaxed);
    });
    std::thread consumer([] {
        while (ready.load(std::memory_order_relaxed) == 0) std::this_thread::yield();
        std::atomic_thread_fence(std::memory_order_acquire);
        std::printf("%d\n", message);
    });
    producer.join();
    consumer.join();
}
