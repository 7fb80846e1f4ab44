// Two threads yield for ever. They count their rounds in a register, so that no two rounds are equal.
#include <pthread.h>
#include <sched.h>

static void *wait(void *arg) {
    for (register long round = 1; round != 0; round++) sched_yield();
    return arg;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, wait, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
