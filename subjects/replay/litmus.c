// Litmus tests of the memory model. Which one runs, and with which memory orders, is set by macros at
// build time: TEST, STORE, LOAD, FENCE. The assertion fails if the threads read what only a memory
// with older values can show.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define MESSAGE 1   // One thread publishes x by y; the other sees y but not x.
#define BUFFER 2    // Both threads write and then read the other's object; neither sees the write.
#define READERS 3   // Two readers see two independent writes in opposite orders.
#define SEQUENCE 4  // As MESSAGE, and a third thread updates y in between.
#define COHERENCE 5 // A thread reads an object twice, and gets the older value second.

#ifndef FENCE
#define FENCE (void)0
#endif

static atomic_int x, y;
static int seen[4];
// All threads have begun before the first store: a new thread has seen everything.
static pthread_barrier_t start;

static void *first(void *unused) {
    (void)unused;
    pthread_barrier_wait(&start);
#if TEST == BUFFER
    atomic_store_explicit(&x, 1, STORE);
    FENCE;
    seen[0] = atomic_load_explicit(&y, LOAD);
#elif TEST == READERS
    atomic_store_explicit(&y, 1, STORE);
#elif TEST == COHERENCE
    atomic_store_explicit(&x, 1, STORE);
    atomic_store_explicit(&x, 2, STORE);
#else
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    FENCE;
    atomic_store_explicit(&y, 1, STORE);
#endif
    return 0;
}

static void *second(void *unused) {
    (void)unused;
    pthread_barrier_wait(&start);
#if TEST == BUFFER
    atomic_store_explicit(&y, 1, STORE);
    FENCE;
    seen[1] = atomic_load_explicit(&x, LOAD);
#elif TEST == READERS
    seen[0] = atomic_load_explicit(&x, LOAD);
    seen[1] = atomic_load_explicit(&y, LOAD);
#elif TEST == COHERENCE
    seen[0] = atomic_load_explicit(&x, LOAD);
    seen[1] = atomic_load_explicit(&x, LOAD);
#else
    seen[0] = atomic_load_explicit(&y, LOAD);
    FENCE;
    seen[1] = atomic_load_explicit(&x, memory_order_relaxed);
#endif
    return 0;
}

static void *third(void *unused) {
    (void)unused;
    pthread_barrier_wait(&start);
#if TEST == READERS
    seen[2] = atomic_load_explicit(&y, LOAD);
    seen[3] = atomic_load_explicit(&x, LOAD);
#elif TEST == SEQUENCE
    atomic_fetch_add_explicit(&y, 1, memory_order_relaxed);
#endif
    return 0;
}

static void *fourth(void *unused) {
    (void)unused;
    pthread_barrier_wait(&start);
#if TEST == READERS
    atomic_store_explicit(&x, 1, STORE);
#endif
    return 0;
}

int main(void) {
    void *(*const bodies[])(void *) = {first, second, third, fourth};
    pthread_t threads[4];
    pthread_barrier_init(&start, 0, 4);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, bodies[i], 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
#if TEST == MESSAGE
    assert(!(seen[0] == 1 && seen[1] == 0));
#elif TEST == BUFFER
    assert(!(seen[0] == 0 && seen[1] == 0));
#elif TEST == READERS
    assert(!(seen[0] == 1 && seen[1] == 0 && seen[2] == 1 && seen[3] == 0));
#elif TEST == SEQUENCE
    assert(!(seen[0] == 2 && seen[1] == 0));
#else
    assert(seen[0] <= seen[1]);
#endif
    return 0;
}
