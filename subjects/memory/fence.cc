// A producer fills in a message, passes a fence and sets a relaxed flag; a consumer sees the flag and
// reads the message.
// Bug: the consumer passes no fence, so the producer's fence orders nothing.
// Finds: race on message; none
// The twin is fence_fixed.cc.
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
        std::printf("%d\n", message);
    });
    producer.join();
    consumer.join();
}
