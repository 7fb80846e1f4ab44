// A consumer sleeps if its queue is empty; a producer wakes it if it sleeps.
// Bug (order violation): the consumer does not look again after it has announced that it sleeps.
// Deep: it must read the queue too early, and then the producer must run to its end: if the consumer
// continues at once, it is woken.
// Consequence: deadlock
// The twin is sleeping_consumer_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <semaphore.h>
#include <thread>

static const unsigned items = 2;

class Queue {
public:
    Queue() { sem_init(&wake_, 0, 0); }
    ~Queue() { sem_destroy(&wake_); }

    void put(int item) {
        unsigned tail = tail_.load();
        slots_[tail % 4].store(item);
        tail_.store(tail + 1);
        if (sleeping_.exchange(false)) sem_post(&wake_);
    }

    int take() {
        for (;;) {
            unsigned head = head_.load();
            if (tail_.load() != head) {
                head_.store(head + 1);
                return slots_[head % 4].load();
            }
            sleeping_.store(true);
#ifdef FIXED
            if (tail_.load() != head && sleeping_.exchange(false)) continue;
#endif
            sem_wait(&wake_);
        }
    }

private:
    std::atomic<unsigned> head_{0};
    std::atomic<unsigned> tail_{0};
    std::atomic<int> slots_[4] = {};
    std::atomic<bool> sleeping_{false};
    sem_t wake_;
};

int main() {
    Queue queue;
    int sum = 0;
    std::thread consumer([&] {
        for (unsigned i = 0; i < items; i++) sum += queue.take();
    });
    std::thread producer([&] {
        for (unsigned i = 0; i < items; i++) queue.put(static_cast<int>(i) + 1);
    });
    consumer.join();
    producer.join();
    std::printf("%d\n", sum);
    assert(sum == 3);
}
