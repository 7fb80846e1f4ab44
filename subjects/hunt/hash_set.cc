// A set of numbers in a hash table, behind a wrapper that takes a lock for every operation.
// Bug: equals compares with the other set without its lock; a number can be in a table that has
// just been thrown away.
// Finds: race on right; memory
// The twin is hash_set_fixed.cc.
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <thread>

class Set {
public:
    ~Set() { delete[] table; }

    void add(int number) {
        std::lock_guard<std::mutex> guard(lock);
        if (2 * count >= size) grow();
        put(number);
        count++;
    }

    bool equals(Set &other) {
        std::lock_guard<std::mutex> guard(lock);
        if (count != other.count) return false;
        for (std::size_t i = 0; i < other.size; i++) {
            int number = other.table[i];
            if (number != 0 && !contains(number)) return false;
        }
        return true;
    }

private:
    void grow() {
        int *old = table;
        std::size_t before = size;
        size *= 2;
        table = new int[size]();
        for (std::size_t i = 0; i < before; i++) {
            if (old[i] != 0) put(old[i]);
        }
        delete[] old;
    }

    void put(int number) {
        std::size_t at = static_cast<std::size_t>(number) % size;
        while (table[at] != 0) at = (at + 1) % size;
        table[at] = number;
    }

    bool contains(int number) {
        std::size_t at = static_cast<std::size_t>(number) % size;
        while (table[at] != 0 && table[at] != number) at = (at + 1) % size;
        return table[at] == number;
    }

    std::mutex lock;
    std::size_t size = 4;
    std::size_t count = 0;
    int *table = new int[4]();
};

static Set left;
static Set right;
static bool result;

int main() {
    for (int i = 1; i < 3; i++) {
        left.add(i);
        right.add(i);
    }
    std::thread compares([] { result = left.equals(right); });
    std::thread adds([] { right.add(3); });
    compares.join();
    adds.join();
    std::printf("equal: %d\n", result);
}
