// A reader takes snapshots of two numbers that a writer changes together, with a sequence counter.
// Bug (atomicity violation): after two retries the reader returns what it has, although it may be torn.
// Deep: the writer must disturb three attempts in a row: six switches.
// Consequence: assertion
// The twin is snapshot_retries_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

struct Snapshot {
    int sent, acknowledged;
};

class Statistics {
public:
    void change(int number) {
        sequence_.fetch_add(1);
        sent_.store(number);
        acknowledged_.store(number);
        sequence_.fetch_add(1);
    }

    Snapshot read() const {
        Snapshot it = {0, 0};
        for (int attempt = 0; attempt <= retries; attempt++) {
            unsigned before = begin();
            it = {sent_.load(), acknowledged_.load()};
            if (sequence_.load() == before) return it;
        }
#ifdef FIXED
        for (;;) {
            unsigned before = begin();
            it = {sent_.load(), acknowledged_.load()};
            if (sequence_.load() == before) return it;
        }
#endif
        return it;
    }

private:
    // The sequence number, when no change is in progress.
    unsigned begin() const {
        for (;;) {
            unsigned sequence = sequence_.load();
            if (sequence % 2 == 0) return sequence;
            std::this_thread::yield();
        }
    }

    static const int retries = 2;
    std::atomic<unsigned> sequence_{0};
    std::atomic<int> sent_{0};
    std::atomic<int> acknowledged_{0};
};

static Statistics statistics;

static void send() {
    for (int i = 1; i <= 4; i++) statistics.change(i);
}

static void watch(int *lost) {
    Snapshot it = statistics.read();
    *lost = it.sent - it.acknowledged;
}

int main() {
    int lost = 0;
    std::thread sender(send);
    std::thread watcher(watch, &lost);
    sender.join();
    watcher.join();
    std::printf("lost: %d\n", lost);
    assert(lost == 0);
}
