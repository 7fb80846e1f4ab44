// Coroutines hop to the threads of an executor, and count how often.
// Bug: the awaiter writes to the coroutine's frame after it has handed the coroutine over.
// Finds: race on suspended; assertion
// The twin is coroutine_fixed.cc.
// Flags: -std=c++20
#undef NDEBUG
#include <cassert>
#include <condition_variable>
#include <coroutine>
#include <deque>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static std::deque<std::coroutine_handle<>> ready;
static bool stopped;
static std::mutex end_lock;
static std::condition_variable ended;
static int jobs;

static void post(std::coroutine_handle<> handle) {
    std::lock_guard<std::mutex> guard(lock);
    ready.push_back(handle);
    changed.notify_all();
}

static void run() {
    for (;;) {
        std::unique_lock<std::mutex> guard(lock);
        changed.wait(guard, [] { return stopped || !ready.empty(); });
        if (ready.empty()) return;
        std::coroutine_handle<> next = ready.front();
        ready.pop_front();
        guard.unlock();
        next.resume();
    }
}

struct Task {
    struct promise_type {
        Task get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

struct Hop {
    int suspended = 0;

    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> handle) {
#ifdef FIXED
        suspended = 1;
        post(handle);
#else
        post(handle);
        suspended = 1;
#endif
    }
    int await_resume() { return suspended; }
};

static Task job() {
    int hops = co_await Hop{};
    hops += co_await Hop{};
    assert(hops == 2);
    std::lock_guard<std::mutex> guard(end_lock);
    jobs++;
    ended.notify_one();
}

int main() {
    std::thread first(run), second(run);
    job();
    job();
    {
        std::unique_lock<std::mutex> guard(end_lock);
        ended.wait(guard, [] { return jobs == 2; });
    }
    {
        std::lock_guard<std::mutex> guard(lock);
        stopped = true;
    }
    changed.notify_all();
    first.join();
    second.join();
    return 0;
}
