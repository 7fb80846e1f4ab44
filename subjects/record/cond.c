// Condition variables: a signal for one who waits, a broadcast for two, two waits whose time runs
// out. Before each of the first two, T0 knows that the others wait: they have posted `ready` with the
// mutex, and it has the mutex now.
// Events of T0.1: acquire m, the wait of `one`, woken by T0's signal for certain, release m, end.
// Of T0.2 and T0.3: the same of `all`, woken by T0's broadcast. Of T0: among others, two waits of
// `one` that end by their time.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t one = PTHREAD_COND_INITIALIZER, all;
static sem_t ready;
static int waiting, go_one, go_all;

static void *wait_one(void *unused) {
    pthread_mutex_lock(&m);
    waiting++;
    sem_post(&ready);
    while (!go_one) pthread_cond_wait(&one, &m);
    pthread_mutex_unlock(&m);
    return unused;
}

static void *wait_all(void *unused) {
    pthread_mutex_lock(&m);
    waiting++;
    sem_post(&ready);
    while (!go_all) pthread_cond_wait(&all, &m);
    pthread_mutex_unlock(&m);
    return unused;
}

static struct timespec soon(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += 1000000;
    if (time.tv_nsec >= 1000000000) time.tv_sec++, time.tv_nsec -= 1000000000;
    return time;
}

int main(void) {
    pthread_t thread[3];
    sem_init(&ready, 0, 0);
    pthread_cond_init(&all, NULL);
    pthread_create(&thread[0], NULL, wait_one, NULL);
    sem_wait(&ready);
    pthread_mutex_lock(&m);
    go_one = 1;
    pthread_cond_signal(&one);
    pthread_mutex_unlock(&m);
    pthread_join(thread[0], NULL);

    pthread_create(&thread[1], NULL, wait_all, NULL);
    pthread_create(&thread[2], NULL, wait_all, NULL);
    sem_wait(&ready);
    sem_wait(&ready);
    pthread_mutex_lock(&m);
    go_all = 1;
    pthread_cond_broadcast(&all);
    pthread_mutex_unlock(&m);
    pthread_join(thread[1], NULL);
    pthread_join(thread[2], NULL);

    pthread_mutex_lock(&m);
    struct timespec until = soon(CLOCK_REALTIME), monotonic = soon(CLOCK_MONOTONIC);
    int timed = pthread_cond_timedwait(&one, &m, &until);
    int clocked = pthread_cond_clockwait(&one, &m, CLOCK_MONOTONIC, &monotonic);
    pthread_mutex_unlock(&m);
    pthread_cond_destroy(&all);
    printf("%d %d %d\n", waiting, timed == ETIMEDOUT, clocked == ETIMEDOUT);
    return 0;
}
