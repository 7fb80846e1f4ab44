// A producer fills in a message and sets a flag; a consumer that sees the flag reads the message.
// Bug: the flag is relaxed, so nothing orders the message: on a processor with weaker ordering the
// consumer may see the flag and an old message.
// Finds: race on message; none
// The twin is publish_fixed.cc.
#include <atomic>
#include <cstdio>
#include <thread>

static int message;
static std::atomic<bool> ready{false};

int main() {
    std::thread producer([] {
        message = 42;
        ready.store(true, std::memory_order_relaxed);
    });
    std::thread consumer([] {
        while (!ready.load(std::memory_order_relaxed)) std::this_thread::yield();
        std::printf("%d\n", message);
    });
    producer.join();
    consumer.join();
}
