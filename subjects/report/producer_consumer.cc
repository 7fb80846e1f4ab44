// Producers and a consumer of C++20: jthread, stop_token, condition_variable_any, a ring of messages.
// Bug: a producer looks whether there is room in one critical section and puts its message into the ring
// in another one, so that two producers may use the last free slot.
// Finds: atomicity on used_ ring; assertion
// First: atomicity violation on `ring.used_` in has_room
// Flags: -std=c++20
// The twin is producer_consumer_fixed.cc.
#undef NDEBUG
#include <array>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace mail {

struct Message {
    int sender;
    int number;
};

class Ring {
public:
    static constexpr int capacity = 2;

    // Whether the message was put into the ring.
    bool put(Message message) {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(mutex_);
        if (used_ == capacity)
            return false;
        add(message);
#else
        if (!has_room())
            return false;
        std::lock_guard<std::mutex> guard(mutex_);
        add(message);
#endif
        filled_.notify_one();
        return true;
    }

    std::optional<Message> take(std::stop_token stop) {
        std::unique_lock<std::mutex> guard(mutex_);
        if (!filled_.wait(guard, stop, [this] { return used_ > 0; }))
            return std::nullopt;
        Message message = slots_[first_];
        first_ = (first_ + 1) % capacity;
        used_--;
        return message;
    }

private:
    bool has_room() {
        std::lock_guard<std::mutex> guard(mutex_);
        return used_ < capacity;
    }

    void add(Message message) {
        assert(used_ < capacity && "the ring is full");
        slots_[(first_ + used_) % capacity] = message;
        used_++;
    }

    std::mutex mutex_;
    std::condition_variable_any filled_;
    std::array<Message, capacity> slots_{};
    int first_ = 0;
    int used_ = 0;
};

}  // namespace mail

static mail::Ring ring;
static int received;

static void consume(std::stop_token stop) {
    while (std::optional<mail::Message> message = ring.take(stop)) {
        assert(message->sender == 1 || message->sender == 2);
        received++;
    }
}

static void produce(int sender) {
    int sent = 0;
    while (sent < 2) {
        if (ring.put({sender, sent}))
            sent++;
        else
            std::this_thread::yield();
    }
}

int main() {
    {
        std::jthread consumer(consume);
        std::jthread one(produce, 1);
        std::jthread two(produce, 2);
        one.join();
        two.join();
    }
    assert(received <= 4);
    return 0;
}
