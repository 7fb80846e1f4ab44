// The number of sold tickets is kept in two copies, so that one wrong copy can be repaired.
// Bug (atomicity violation, twice): each copy is loaded and stored instead of incremented.
// Deep: one lost update is repaired; only if both copies lose one, the number is wrong.
// Consequence: assertion
// The twin is twin_counters_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

class Copy {
public:
    void add(int number) {
#ifdef FIXED
        value_.fetch_add(number);
#else
        int seen = value_.load();
        value_.store(seen + number);
#endif
    }

    int value() const { return value_.load(); }
    void repair(int value) { value_.store(value); }

private:
    std::atomic<int> value_{0};
};

class Counter {
public:
    void add(int number) {
        first_.add(number);
        second_.add(number);
    }

    // An update can only be lost, never made up: the larger copy is right.
    int total() {
        int one = first_.value(), two = second_.value();
        int right = one > two ? one : two;
        if (one != two) repairs_++;
        first_.repair(right);
        second_.repair(right);
        return right;
    }

    int repairs() const { return repairs_; }

private:
    Copy first_;
    Copy second_;
    int repairs_ = 0;
};

int main() {
    Counter sold;
    std::thread window([&] { sold.add(2); });
    std::thread website([&] { sold.add(5); });
    window.join();
    website.join();
    int total = sold.total();
    std::printf("%d sold\n", total);
    assert(total == 7);
    assert(sold.repairs() <= 1);
}
