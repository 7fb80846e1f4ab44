// A set of numbers in buckets, each with its own lock. It is made larger when it has too many members.
// Bug (atomicity violation): the members are copied bucket by bucket, and a member that is removed from a
// bucket that is already copied is in the new buckets again.
// Deep: the set is made larger only if two threads have members in it at the same time; then a removal
// must come between two steps of the copy.
// Consequence: assertion
// The twin is table_resize_fixed.cc.
#undef NDEBUG
#include <cassert>
#include <cstdio>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

class Set {
public:
    explicit Set(std::size_t limit) : limit_(limit) {}

    void insert(int number) {
        {
            std::lock_guard<std::mutex> guard(locks_[bucket(number)]);
            buckets_[bucket(number)].insert(number);
        }
        std::size_t members;
        {
            std::lock_guard<std::mutex> guard(count_lock_);
            members = ++members_;
        }
        if (members > limit_) copy();
    }

    void remove(int number) {
        {
            std::lock_guard<std::mutex> guard(locks_[bucket(number)]);
            buckets_[bucket(number)].erase(number);
        }
        std::lock_guard<std::mutex> guard(count_lock_);
        members_--;
    }

    bool is_empty() const { return buckets_[0].empty() && buckets_[1].empty(); }

private:
    static std::size_t bucket(int number) { return static_cast<std::size_t>(number % 2); }

    void copy() {
        std::set<int> copies[2];
#ifdef FIXED
        std::lock_guard<std::mutex> zero(locks_[0]);
        std::lock_guard<std::mutex> one(locks_[1]);
        for (std::size_t i = 0; i < 2; i++) copies[i] = buckets_[i];
        for (std::size_t i = 0; i < 2; i++) buckets_[i].swap(copies[i]);
#else
        for (std::size_t i = 0; i < 2; i++) {
            std::lock_guard<std::mutex> guard(locks_[i]);
            copies[i] = buckets_[i];
        }
        for (std::size_t i = 0; i < 2; i++) {
            std::lock_guard<std::mutex> guard(locks_[i]);
            buckets_[i].swap(copies[i]);
        }
#endif
    }

    std::mutex locks_[2];
    std::set<int> buckets_[2];
    std::mutex count_lock_;
    std::size_t members_ = 0;
    const std::size_t limit_;
};

int main() {
    Set set(1);
    std::thread one([&] {
        set.insert(2);
        set.remove(2);
    });
    std::thread two([&] {
        set.insert(3);
        set.remove(3);
    });
    one.join();
    two.join();
    std::printf("done\n");
    assert(set.is_empty());
}
