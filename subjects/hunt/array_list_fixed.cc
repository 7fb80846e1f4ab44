// The twin of array_list.cc: a list of numbers behind a wrapper that takes a lock for every
// operation. add_all of one list takes a copy of the other one under its lock.
// Finds: nothing harmful
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
        int copy[room];
        std::size_t end = other.copy(copy);
        std::lock_guard<std::mutex> guard(lock);
        for (std::size_t i = 0; i < end; i++) append(copy[i]);
    }

private:
    static const std::size_t room = 16;

    std::size_t copy(int *to) {
        std::lock_guard<std::mutex> guard(lock);
        for (std::size_t i = 0; i < count; i++) to[i] = numbers[i];
        return count;
    }

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
