// A counter of words is protected by a spin lock that the program implements itself.
// Bug (atomicity violation): the lock is tested and then set in two operations, so that two threads
// can both take it.
// Consequence: assertion
// The twin is own_spin_lock_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

class SpinLock {
public:
    void lock() {
#ifdef FIXED
        while (taken_.exchange(true)) std::this_thread::yield();
#else
        while (taken_.load()) std::this_thread::yield();
        taken_.store(true);
#endif
        int inside = inside_.fetch_add(1);
        assert(inside == 0);
    }

    void unlock() {
        inside_.fetch_sub(1);
        taken_.store(false);
    }

private:
    std::atomic<bool> taken_{false};
    std::atomic<int> inside_{0};
};

static SpinLock lock;
static std::atomic<int> words{0};

static void count(const char *text) {
    bool in_word = false;
    int found = 0;
    for (const char *it = text; *it != 0; it++) {
        bool letter = *it != ' ';
        if (letter && !in_word) found++;
        in_word = letter;
    }
    lock.lock();
    words.store(words.load() + found);
    lock.unlock();
}

int main() {
    std::thread one([] {
        count("the quick brown fox");
        count("jumps over");
    });
    std::thread two([] { count("the lazy dog"); });
    one.join();
    two.join();
    std::printf("%d words\n", words.load());
    assert(words.load() == 9);
}
