// The twin of publish.cc: the flag is released and acquired.
// Finds: nothing harmful
#include <atomic>
#include <cstdio>
#include <thread>

static int message;
static std::atomic<bool> ready{false};

int main() {
    std::thread producer([] {
        message = 42;
        ready.store(true, std::memory_order_release);
    });
    std::thread consumer([] {
        while (!ready.load(std::memory_order_acquire)) std::this_thread::yield();
        std::printf("%d\n", message);
    });
    producer.join();
    consumer.join();
}
