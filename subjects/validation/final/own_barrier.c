// Threads meet at a barrier that the program implements itself, with a count and a number of the round.
// Bug (atomicity violation): a thread reads the number of the round after it has counted itself, so that it may be
// that of the next round already. Then it waits for a round that never ends.
// Deep: the two others must arrive between the count and the read of the number.
// Consequence: hang
// The twin is own_barrier_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 2 };

static atomic_int arrived, rounds, work;

static void meet(void) {
#ifdef FIXED
    int round = atomic_load(&rounds);
    int mine = atomic_fetch_add(&arrived, 1) + 1;
#else
    int mine = atomic_fetch_add(&arrived, 1) + 1;
    int round = atomic_load(&rounds);
#endif
    if (mine == THREADS) {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&rounds, 1);
        return;
    }
    while (atomic_load(&rounds) == round) sched_yield();
}

static void *compute(void *unused) {
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        atomic_fetch_add(&work, 1);
        meet();
        assert(atomic_load(&work) >= THREADS * (i + 1));
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, compute, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("computed\n");
    return 0;
}
