// A clock is kept in three copies, so that readers need no lock: at most one copy differs while it is set, and
// the other two are right.
// Bug (atomicity violation): if the clock is set twice while it is read, all three can be different.
// Deep: the reader must be interrupted after the first copy and after the second one, by an update each time,
// or once by an update and a half.
// Consequence: assertion
// The twin is three_copies_fixed.cc.
#undef NDEBUG
#include <array>
#include <atomic>
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>

class Clock {
  public:
    void set(int time) {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(lock_);
#endif
        for (auto &copy : copies_) copy.store(time);
    }

    int read() {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(lock_);
#endif
        std::array<int, 3> seen{};
        for (unsigned i = 0; i < 3; i++) seen[i] = copies_[i].load();
        if (seen[0] == seen[1] || seen[0] == seen[2]) return seen[0];
        assert(seen[1] == seen[2]);
        return seen[1];
    }

  private:
    std::array<std::atomic<int>, 3> copies_{};
    std::mutex lock_;
};

int main() {
    Clock clock;
    std::thread pendulum([&] {
        for (int time = 1; time <= 3; time++) clock.set(time);
    });
    std::thread watcher([&] {
        int first = clock.read();
        int second = clock.read();
        assert(first <= second);
    });
    pendulum.join();
    watcher.join();
    std::printf("time %d\n", clock.read());
}
