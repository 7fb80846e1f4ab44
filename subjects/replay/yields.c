// Two threads hand a number to and fro; who waits for it lets others go first, again and again.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { ROUNDS = 3 };

static int turn, number;
static int mine[2] = { 0, 1 };

static void *play(void *arg) {
    int me = *(int *)arg;
    for (int i = 0; i < ROUNDS; i++) {
        while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me) sched_yield();
        number++;
        __atomic_store_n(&turn, 1 - me, __ATOMIC_RELEASE);
    }
    return NULL;
}

int main(void) {
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, play, &mine[i]);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    printf("%d\n", number);
    return 0;
}
