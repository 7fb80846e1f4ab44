// Two threads compute the temperature of the halves of a rod, step by step, with barriers in between,
// until nothing changes much.
// Bug (data race): the largest change of a step is updated without a lock, so that a larger change can be
// overwritten by a smaller one, and the computation ends too early.
// Consequence: assertion
// The twin is heat_grid_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { CELLS = 8, HALVES = 2, STEPS = 2 };

static long cells[CELLS] = { 800, 0, 0, 0, 0, 0, 16, 0 };
static long largest[STEPS];
static pthread_barrier_t barrier;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static long at(int cell) {
    if (cell < 0) return cells[0];
    if (cell >= CELLS) return cells[CELLS - 1];
    return cells[cell];
}

static void note_change(int step, long change) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    if (change > largest[step]) largest[step] = change;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void compute_step(int step, int begin, int end) {
    long next[CELLS], change = 0;
    for (int i = begin; i < end; i++) {
        next[i] = (at(i - 1) + 2 * at(i) + at(i + 1)) / 4;
        long moved = next[i] > cells[i] ? next[i] - cells[i] : cells[i] - next[i];
        if (moved > change) change = moved;
    }
    note_change(step, change);
    pthread_barrier_wait(&barrier);
    for (int i = begin; i < end; i++) cells[i] = next[i];
    pthread_barrier_wait(&barrier);
}

static void *compute(void *argument) {
    int half = *(int *)argument;
    int begin = half * CELLS / HALVES, end = begin + CELLS / HALVES;
    for (int step = 0; step < STEPS; step++) compute_step(step, begin, end);
    return NULL;
}

int main(void) {
    pthread_t threads[HALVES];
    int halves[HALVES] = { 0, 1 };
    pthread_barrier_init(&barrier, NULL, HALVES);
    for (int i = 0; i < HALVES; i++) pthread_create(&threads[i], NULL, compute, &halves[i]);
    for (int i = 0; i < HALVES; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    printf("%ld %ld\n", largest[0], largest[1]);
    assert(largest[0] == 200 && largest[1] >= 75);
    return 0;
}
