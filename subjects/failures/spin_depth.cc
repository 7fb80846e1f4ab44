// A spin lock that counts how deep it is held, and complains if it is destroyed while it is held.
// Bug: the owner destroys it when the work is done, but the worker may still be inside. After an error in
// Click, which prints a message in this case.
// Finds: atomicity on main; exit
// The twin is spin_depth_fixed.cc.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

class SpinLock {
public:
    void acquire() {
        while (held.exchange(1)) sched_yield();
        depth.fetch_add(1);
    }
    void release() {
        depth.fetch_sub(1);
        held.store(0);
    }
    ~SpinLock() {
        if (depth.load() != 0) {
            std::fprintf(stderr, "the lock is destroyed while it is held\n");
            std::_Exit(1);
        }
    }

private:
    std::atomic<int> held{0};
    std::atomic<int> depth{0};
};

static sem_t finished;
static SpinLock *router;
static int packets;

static void *forward(void *unused) {
    router->acquire();
    packets++;
#ifndef FIXED
    sem_post(&finished);
#endif
    router->release();
#ifdef FIXED
    sem_post(&finished);
#endif
    return unused;
}

int main() {
    pthread_t worker;
    sem_init(&finished, 0, 0);
    router = new SpinLock;
    pthread_create(&worker, nullptr, forward, nullptr);
    sem_wait(&finished);
    usleep(1000);
    router->~SpinLock();
    pthread_join(worker, nullptr);
    operator delete(router);
    std::printf("%d packets\n", packets);
    return 0;
}
