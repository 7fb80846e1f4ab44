// The lives of threads: one returns, one calls pthread_exit, one is detached, one is waited for
// with a limit, one is asked after until it has ended.
// Events of T0: fork and join of T0.1; fork and join of T0.2; fork and detach of T0.3 and the wait
// for its semaphore; fork and join of T0.4; fork and join of T0.5 (however often it was asked).
// Each of the others begins, writes its own number to its cell, and ends.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static int cell[6];
static sem_t done;

static void *returns(void *number) {
    cell[(intptr_t)number] = (int)(intptr_t)number;
    return number;
}

static void *exits(void *number) {
    returns(number);
    pthread_exit(number);
}

static void *posts(void *number) {
    returns(number);
    sem_post(&done);
    return number;
}

// Asks until it has ended, and leaves no events of its own meanwhile.
__attribute__((no_sanitize("thread"))) static void ask(pthread_t thread, void **result) {
    while (pthread_tryjoin_np(thread, result) == EBUSY) poll(NULL, 0, 1);
}

int main(void) {
    pthread_t thread;
    void *result;
    sem_init(&done, 0, 0);
    pthread_create(&thread, NULL, returns, (void *)1);
    pthread_join(thread, &result);
    printf("%d\n", (int)(intptr_t)result);
    pthread_create(&thread, NULL, exits, (void *)2);
    pthread_join(thread, &result);
    printf("%d\n", (int)(intptr_t)result);
    pthread_create(&thread, NULL, posts, (void *)3);
    pthread_detach(thread);
    sem_wait(&done);
    printf("%d\n", cell[3]);
    pthread_create(&thread, NULL, returns, (void *)4);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1000;
    printf("%d\n", pthread_timedjoin_np(thread, &result, &until));
    pthread_create(&thread, NULL, returns, (void *)5);
    ask(thread, &result);
    printf("%d\n", (int)(intptr_t)result);
    return 0;
}
