// A tracker publishes positions with a sequence counter that is odd during an update.
// Bug (atomicity violation): the reader checks that the counter is even before it reads, and not that
// it is the same afterwards.
// Consequence: assertion
// The twin is position_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

class Position {
public:
    void move(int x, int y) {
        sequence_.fetch_add(1);
        x_.store(x);
        y_.store(y);
        sequence_.fetch_add(1);
    }

    void read(int &x, int &y) const {
        for (;;) {
            unsigned before = sequence_.load();
            if (before % 2 == 1) {
                std::this_thread::yield();
                continue;
            }
            x = x_.load();
            y = y_.load();
#ifdef FIXED
            if (sequence_.load() == before) return;
#else
            return;
#endif
        }
    }

private:
    std::atomic<unsigned> sequence_{0};
    std::atomic<int> x_{0};
    std::atomic<int> y_{0};
};

static Position position;

static void track() {
    for (int i = 1; i <= 3; i++) position.move(i, i * 10);
}

static void show(int *last) {
    for (int i = 0; i < 2; i++) {
        int x = 0, y = 0;
        position.read(x, y);
        assert(y == x * 10);
        *last = x;
    }
}

int main() {
    int last = 0;
    std::thread tracker(track);
    std::thread display(show, &last);
    tracker.join();
    display.join();
    std::printf("shown\n");
    assert(last >= 0);
}
