// A deque of tasks: its owner pushes and pops at the bottom, a thief steals at the top.
// Bug (atomicity violation): the owner takes the last task without competing for it with the thief.
// Deep: the thief must have seen the task before the owner announces that it takes it, and must be faster with
// the exchange of the top, or slower; in a run without switches there is nothing to steal.
// Consequence: assertion
// The twin is steal_last_fixed.cc.
#undef NDEBUG
#include <array>
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

class Deque {
  public:
    void push(int task) {
        int bottom = bottom_.load();
        tasks_[static_cast<unsigned>(bottom)].store(task);
        bottom_.store(bottom + 1);
    }

    int pop() {
        int bottom = bottom_.load() - 1;
        bottom_.store(bottom);
        int top = top_.load();
        if (top > bottom) {
            bottom_.store(bottom + 1);
            return -1;
        }
        int task = tasks_[static_cast<unsigned>(bottom)].load();
#ifdef FIXED
        if (top == bottom) {
            if (!top_.compare_exchange_strong(top, top + 1)) task = -1;
            bottom_.store(bottom + 1);
        }
#endif
        return task;
    }

    int steal() {
        int top = top_.load();
        if (top >= bottom_.load()) return -1;
        int task = tasks_[static_cast<unsigned>(top)].load();
        return top_.compare_exchange_strong(top, top + 1) ? task : -1;
    }

  private:
    std::atomic<int> top_{0}, bottom_{0};
    std::array<std::atomic<int>, 8> tasks_{};
};

static Deque deque;
static std::array<std::atomic<int>, 3> runs{};

static void run(int task) {
    if (task >= 0) runs[static_cast<unsigned>(task)].fetch_add(1);
}

int main() {
    std::thread owner([] {
        for (int task = 0; task < 3; task++) deque.push(task);
        for (int i = 0; i < 3; i++) run(deque.pop());
    });
    std::thread thief([] {
        for (int i = 0; i < 3; i++) run(deque.steal());
    });
    owner.join();
    thief.join();
    for (int i = 0; i < 3; i++) run(deque.steal());
    std::printf("tasks done\n");
    for (auto &it : runs) assert(it.load() == 1);
}
