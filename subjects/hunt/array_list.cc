// A list of numbers behind a wrapper that takes a lock for every operation.
// Bug: add_all of one list goes through the other one with size and at. Each takes the lock of the
// other list, but it can be emptied in between.
// Finds: atomicity on the_other; exception
// The twin is array_list_fixed.cc.
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

class List {
public:
    void add(int number) {
        std::lock_guard<std::mutex> guard(lock);
        append(number);
    }

    void clear() {
        std::lock_guard<std::mutex> guard(lock);
        count = 0;
    }

    std::size_t size() {
        std::lock_guard<std::mutex> guard(lock);
        return count;
    }

    int at(std::size_t index) {
        std::lock_guard<std::mutex> guard(lock);
        if (index >= count) throw std::out_of_range("no such element");
        return numbers[index];
    }

    void add_all(List &other) {
        std::lock_guard<std::mutex> guard(lock);
        std::size_t end = other.size();
        for (std::size_t i = 0; i < end; i++) append(other.at(i));
    }

private:
    static const std::size_t room = 16;

    void append(int number) {
        if (count == room) throw std::length_error("the list is full");
        numbers[count++] = number;
    }

    std::mutex lock;
    std::size_t count = 0;
    int numbers[room] = {};
};

static List the_one;
static List the_other;

int main() {
    for (int i = 0; i < 3; i++) the_other.add(i);
    std::thread adds([] { the_one.add_all(the_other); });
    std::thread clears([] { the_other.clear(); });
    adds.join();
    clears.join();
    std::printf("%zu and %zu\n", the_one.size(), the_other.size());
}
