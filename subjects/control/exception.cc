// T0 and T0.1 take from a stack that holds one number.
// Bug: each asks whether the stack is empty, and then takes; each is under the mutex, but another
// may take in between.
// Consequence: uncaught exception (std::terminate, SIGABRT), `take` throws in a thread that nobody
// guards.
// The twin, exception_fixed.cc, never fails.
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

class Stack {
public:
    void put(int number) {
        std::lock_guard<std::mutex> hold(lock);
        numbers.push_back(number);
    }

    bool is_empty() {
        std::lock_guard<std::mutex> hold(lock);
        return numbers.empty();
    }

    int take() {
        std::lock_guard<std::mutex> hold(lock);
        if (numbers.empty()) throw std::out_of_range("take from an empty stack");
        int number = numbers.back();
        numbers.pop_back();
        return number;
    }

private:
    std::mutex lock;
    std::vector<int> numbers;
};

static Stack stack;
static int taken[2];

static void take_if_any(int who) {
    bool empty = stack.is_empty(); /* A1 */
    if (!empty) {
        int number = stack.take(); /* A2 */
        taken[who] = number;
    }
}

int main() {
    stack.put(7);
    std::thread other(take_if_any, 1);
    take_if_any(0);
    other.join();
    std::printf("taken: %d\n", taken[0] + taken[1]);
    return taken[0] + taken[1] == 7 ? 0 : 1;
}
