// A cache migrates an object to the core that uses it, and pins it if it moves to and fro too often.
// Bug: a pinned object is used by the other core without its lock, and an update is lost. Pinning takes
// five migrations in a row.
// Deep: two loops must alternate five times, and then one more access must be interrupted.
// Consequence: assertion
// The twin is page_bounce_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>

class Object {
public:
    void use(int core) {
        if (pinned_.load()) {
            use_pinned();
            return;
        }
        std::lock_guard<std::mutex> guard(lock_);
        migrations_ = core == core_ ? 0 : migrations_ + 1;
        core_ = core;
        add();
        if (migrations_ >= limit) pinned_.store(true);
    }

    int value() const { return value_.load(); }

private:
    static const int limit = 5;

    void use_pinned() {
#ifdef FIXED
        value_.fetch_add(1);
#else
        int seen = value_.load();
        value_.store(seen + 1);
#endif
    }

    void add() { value_.fetch_add(1); }

    std::mutex lock_;
    int core_ = 0;
    int migrations_ = 0;
    std::atomic<bool> pinned_{false};
    std::atomic<int> value_{0};
};

static const int uses = 4;

static void run(Object &object, int core) {
    for (int i = 0; i < uses; i++) object.use(core);
}

int main() {
    Object object;
    std::thread one(run, std::ref(object), 0);
    std::thread two(run, std::ref(object), 1);
    one.join();
    two.join();
    std::printf("used %d times\n", object.value());
    assert(object.value() == 2 * uses);
}
