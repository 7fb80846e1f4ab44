// The twin of sequence.cc: the mark is a relaxed read-modify-write, which continues the release sequence.
// Finds: nothing harmful
#include <atomic>
#include <cstdio>
#include <thread>

static int message;
static std::atomic<int> state{0};

int main() {
    std::thread producer([] {
        message = 42;
        state.store(1, std::memory_order_release);
    });
    std::thread marker([] {
        while (state.load(std::memory_order_relaxed) != 1) std::this_thread::yield();
        state.fetch_add(2, std::memory_order_relaxed);
    });
    std::thread consumer([] {
        while (state.load(std::memory_order_acquire) != 3) std::this_thread::yield();
        std::printf("%d\n", message);
    });
    producer.join();
    marker.join();
    consumer.join();
}
