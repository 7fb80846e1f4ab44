// A read-write lock that the program implements itself, with a number of readers and a flag of the writer.
// Bug (atomicity violation): a reader checks the flag before it counts itself, and not afterwards.
// Deep: the writer must enter between the two, and be interrupted itself while it writes.
// Consequence: assertion
// The twin is own_rw_lock_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

class RwLock {
public:
    void lock_shared() {
        for (;;) {
            while (writes_.load()) std::this_thread::yield();
            readers_.fetch_add(1);
#ifdef FIXED
            if (!writes_.load()) return;
            readers_.fetch_sub(1);
#else
            return;
#endif
        }
    }

    void unlock_shared() { readers_.fetch_sub(1); }

    void lock() {
        while (writes_.exchange(true)) std::this_thread::yield();
        while (readers_.load() > 0) std::this_thread::yield();
    }

    void unlock() { writes_.store(false); }

private:
    std::atomic<int> readers_{0};
    std::atomic<bool> writes_{false};
};

static RwLock lock;
static std::atomic<int> rows{0};
static std::atomic<int> cells{0};

static void grow(int to) {
    lock.lock();
    rows.store(to);
    cells.store(to * 3);
    lock.unlock();
}

static void check() {
    lock.lock_shared();
    int seen = rows.load();
    int contents = cells.load();
    lock.unlock_shared();
    assert(contents == seen * 3);
}

int main() {
    std::thread writer([] {
        grow(1);
        grow(2);
    });
    std::thread reader([] {
        check();
        check();
    });
    writer.join();
    reader.join();
    std::printf("%d rows\n", rows.load());
    assert(rows.load() == 2);
}
