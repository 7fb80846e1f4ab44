// std::async in a thread of its own, and a promise kept by another thread.
// Events: T0 forks T0.1 and T0.2 and joins both; the writes of `result` by T0.1 and of `other` by
// T0.2 come before T0's reads of them.
#include <cstdio>
#include <future>
#include <thread>

static int result, other;

int main() {
    std::future<int> answer = std::async(std::launch::async, [] { result = 42; return 1; });
    int sum = answer.get() + result;
    std::promise<int> promise;
    std::future<int> kept = promise.get_future();
    std::thread thread([&promise] { other = 7; promise.set_value(2); });
    sum += kept.get() + other;
    thread.join();
    std::printf("%d\n", sum);
}
