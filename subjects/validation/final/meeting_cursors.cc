// Two threads process the same cells, one from the left and one from the right, until they meet.
// Bug (atomicity violation): each compares its cell with the position of the other one, and claims it later.
// Deep: the thread from the right is always done when it begins in a run without switches; it must come all
// the way to the cell of the other thread, which must already have decided to process it.
// Consequence: assertion
// The twin is meeting_cursors_fixed.cc.
#undef NDEBUG
#include <array>
#include <atomic>
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>

class Cells {
  public:
    int next_from_left() {
        std::unique_lock<std::mutex> guard(lock_);
        int cell = left_;
        if (cell > right_) return -1;
#ifndef FIXED
        guard.unlock();
        guard.lock();
#endif
        left_ = cell + 1;
        return cell;
    }

    int next_from_right() {
        std::unique_lock<std::mutex> guard(lock_);
        int cell = right_;
        if (cell < left_) return -1;
        right_ = cell - 1;
        return cell;
    }

    void process(int cell) { done_[static_cast<unsigned>(cell)].fetch_add(1); }

    void check() {
        for (auto &done : done_) assert(done.load() == 1);
    }

  private:
    std::mutex lock_;
    int left_ = 0, right_ = 3;
    std::array<std::atomic<int>, 4> done_{};
};

int main() {
    Cells cells;
    std::thread left([&] {
        for (int cell; (cell = cells.next_from_left()) >= 0;) cells.process(cell);
    });
    std::thread right([&] {
        for (int cell; (cell = cells.next_from_right()) >= 0;) cells.process(cell);
    });
    left.join();
    right.join();
    std::printf("processed\n");
    cells.check();
}
