// Four threads read some atomic objects all the time and change them now and then, while each is
// busy with an object of its own. Whoever reads sees the last change.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { OBJECTS = 2, THREADS = 4, ROUNDS = 20000 };

static atomic_long watched[OBJECTS];
static struct { _Alignas(64) atomic_long count; } own[THREADS];
static pthread_barrier_t start;

static void *work(void *self) {
    unsigned state = (unsigned)(long)self;
    long seen = 0;
    pthread_barrier_wait(&start);
    for (long i = 0; i < ROUNDS; i++) {
        state = state * 1664525 + 1013904223;
        atomic_long *at = &watched[state >> 8 & (OBJECTS - 1)];
        long unique = i * THREADS + (long)self;
        if (state >> 24 == 0)
            for (int busy = 0; busy < 200; busy++) atomic_fetch_add(&own[(long)self].count, 1);
        switch (state >> 20 & 15) {
        case 0: atomic_store(at, unique); break;
        case 1: atomic_exchange(at, unique); break;
        case 2: atomic_compare_exchange_strong(at, &seen, unique); break;
        case 3: if (i % 16 == 0) sched_yield(); break;
        default: seen = atomic_load(at);
        }
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&start, NULL, THREADS);
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return 0;
}
