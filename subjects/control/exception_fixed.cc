// The twin of exception.cc: T0 and T0.1 take from a stack that holds one number; asking and taking
// is one operation under the mutex. It never throws and never fails.
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class Stack {
public:
    void put(int number) {
        std::lock_guard<std::mutex> hold(lock);
        numbers.push_back(number);
    }

    bool take(int *number) {
        std::lock_guard<std::mutex> hold(lock);
        if (numbers.empty()) return false;
        *number = numbers.back();
        numbers.pop_back();
        return true;
    }

private:
    std::mutex lock;
    std::vector<int> numbers;
};

static Stack stack;
static int taken[2];

static void take_if_any(int who) {
    int number = 0;
    bool found = stack.take(&number); /* A1 */
    if (found) {
        taken[who] = number; /* A2 */
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
