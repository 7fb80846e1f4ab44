// A producer fills in a message and sets the state; a second thread marks the state, and a third one
// that sees both reads the message.
// Bug: the mark is a relaxed store and ends the release sequence of the producer.
// Finds: race on message; none
// The twin is sequence_fixed.cc.
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
        state.store(3, std::memory_order_relaxed);
    });
    std::thread consumer([] {
        while (state.load(std::memory_order_acquire) != 3) std::this_thread::yield();
        std::printf("%d\n", message);
    });
    producer.join();
    marker.join();
    consumer.join();
}
