// Three threads meet at a barrier twice.
// Events: T0 initialises it for 3; each of T0.1 to T0.3 enters and leaves twice; in each round
// one of them is the one chosen to know; nobody leaves a round before all have entered it.
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t barrier;
static int serial;

static void *meet(void *unused) {
    for (int i = 0; i < 2; i++)
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED);
    return unused;
}

int main(void) {
    pthread_t thread[3];
    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < 3; i++) pthread_create(&thread[i], NULL, meet, NULL);
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&barrier);
    printf("%d\n", serial);
    return 0;
}
