// A queue of messages: producers exchange the tail and then link the previous message to theirs; the consumer
// follows the links. When the queue is empty, the consumer goes back to the built-in first message.
// Bug (use after free): the consumer takes the queue for empty if the last message has no successor, although
// a producer may have exchanged the tail and not yet linked its message.
// Deep: a message must have been consumed before; then a second producer must be interrupted between the
// exchange and the link.
// Consequence: use after free
// The twin is link_tail_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

struct Message {
    explicit Message(int value) : value(value) {}
    std::atomic<Message *> next{nullptr};
    const int value;
};

class Queue {
  public:
    ~Queue() {
        for (Message *it = head_; it;) {
            Message *next = it->next.load();
            if (it != &first_) delete it;
            it = next;
        }
    }

    void push(int value) {
        Message *message = new Message(value);
        Message *previous = tail_.exchange(message);
        previous->next.store(message);
    }

    int pop() {
        Message *next = head_->next.load();
        if (!next) {
            rewind();
            return 0;
        }
        if (head_ == &first_) first_.next.store(nullptr);
        else delete head_;
        head_ = next;
        return next->value;
    }

  private:
    void rewind() {
        if (head_ == &first_) return;
#ifdef FIXED
        Message *last = head_;
        if (!tail_.compare_exchange_strong(last, &first_)) return;
#else
        if (head_->next.load()) return;
        tail_.store(&first_);
#endif
        delete head_;
        head_ = &first_;
    }

    Message first_{0};
    Message *head_ = &first_;
    std::atomic<Message *> tail_{&first_};
};

int main() {
    Queue queue;
    std::thread first([&] { queue.push(1); });
    std::thread consumer([&] {
        int sum = 0;
        for (int tries = 0; tries < 6 && sum < 3; tries++) sum += queue.pop();
    });
    std::thread second([&] { queue.push(2); });
    first.join();
    second.join();
    consumer.join();
    std::printf("messages sent\n");
}
