// std::condition_variable: one waits, one notifies; then a wait whose time runs out.
// Events of T0.1: acquire m, the wait, woken by T0's signal, release m. Of T0: at last a wait that
// ends by its time.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex m;
static std::condition_variable ready;
static bool waiting, go;

int main() {
    std::thread thread([] {
        std::unique_lock<std::mutex> lock(m);
        waiting = true;
        while (!go) ready.wait(lock);
    });
    for (bool seen = false; !seen;) {
        std::lock_guard<std::mutex> lock(m);
        seen = waiting;
    }
    {
        std::lock_guard<std::mutex> lock(m);
        go = true;
        ready.notify_one();
    }
    thread.join();
    std::unique_lock<std::mutex> lock(m);
    bool late = ready.wait_for(lock, std::chrono::milliseconds(1)) == std::cv_status::timeout;
    std::printf("%d\n", late);
}
