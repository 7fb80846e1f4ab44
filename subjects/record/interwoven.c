// Four threads count under many locks of all kinds, alone and one inside the other. Whoever holds
// a lock sees what the last one left.
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { KINDS = 4, EACH = 8, LOCKS = KINDS * EACH, THREADS = 4, ROUNDS = 1000 };

static pthread_mutex_t mutexes[EACH];
static pthread_rwlock_t rwlocks[EACH];
static sem_t semaphores[EACH];
static atomic_int flags[EACH];
static pthread_barrier_t start;
static int counts[LOCKS];

static void enter(int lock) {
    int at = lock % EACH;
    switch (lock / EACH) {
    case 0: pthread_mutex_lock(&mutexes[at]); break;
    case 1: pthread_rwlock_wrlock(&rwlocks[at]); break;
    case 2: sem_wait(&semaphores[at]); break;
    case 3: while (atomic_exchange(&flags[at], 1)) sched_yield(); break;
    }
}

static void leave(int lock) {
    int at = lock % EACH;
    switch (lock / EACH) {
    case 0: pthread_mutex_unlock(&mutexes[at]); break;
    case 1: pthread_rwlock_unlock(&rwlocks[at]); break;
    case 2: sem_post(&semaphores[at]); break;
    case 3: atomic_store(&flags[at], 0); break;
    }
}

static void add(int lock) { counts[lock]++; }

static void *work(void *seed) {
    unsigned state = (unsigned)(long)seed;
    pthread_barrier_wait(&start);
    for (int i = 0; i < ROUNDS; i++) {
        state = state * 1664525 + 1013904223;
        int first = state >> 8 & (LOCKS - 1), second = state >> 16 & (LOCKS - 1);
        enter(first);
        add(first);
        if (i % 16 == 0) sched_yield();
        if (second > first) {
            enter(second);
            add(second);
            leave(second);
        }
        leave(first);
        if (i % 64 == 0) free(malloc(32));
    }
    return NULL;
}

int main(void) {
    for (int i = 0; i < EACH; i++) {
        pthread_mutex_init(&mutexes[i], NULL);
        pthread_rwlock_init(&rwlocks[i], NULL);
        sem_init(&semaphores[i], 0, 1);
    }
    pthread_barrier_init(&start, NULL, THREADS);
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return 0;
}
