// std::condition_variable: one waits, one notifies; then a wait whose time runs out.
// Events of T0.1: acquire m, the wait, woken by T0's signal, release m. Of T0: at last a wait that
// ends by its time.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <semaphore.h>
#include <thread>

static std::mutex m;
static std::condition_variable ready;
static sem_t waiting;
static bool go;

int main() {
    sem_init(&waiting, 0, 0);
    std::thread thread([] {
        std::unique_lock<std::mutex> lock(m);
        sem_post(&waiting);
        while (!go) ready.wait(lock);
    });
    sem_wait(&waiting);
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
