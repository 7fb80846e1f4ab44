// Threads poll a phase and the state of their neighbours, and advance both. The argument is the
// number of threads. For the study of window sizes.
#include <pthread.h>
#include <stdlib.h>

static int phase, count = 4;
static int state[64];

static void *worker(void *argument) {
    int self = (int)(size_t)argument, next = (self + 1) % count;
    for (int i = 0; i < 3; i++) {
        int seen = phase;
        if (state[next] <= state[self]) {
            state[self] = state[self] + 1;
        }
        if (phase == seen) {
            phase = seen + 1;
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    count = argc > 1 ? atoi(argv[1]) : 4;
    if (count < 1 || count > 64) return 2;
    pthread_t threads[64];
    for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, worker, (void *)(size_t)i);
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    return 0;
}
