// Mutexes of all types, in all ways to lock them.
// Events of T0: the lines of main, in order; a failed attempt leaves its error. T0.1 finds every
// mutex taken: one try fails with EBUSY (16), two limited waits with ETIMEDOUT (110).
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER, recursive, checked;

static struct timespec soon(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += 1000000;
    if (time.tv_nsec >= 1000000000) time.tv_sec++, time.tv_nsec -= 1000000000;
    return time;
}

static void init(pthread_mutex_t *mutex, int type) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static void *late(void *unused) {
    struct timespec until = soon(CLOCK_REALTIME), monotonic = soon(CLOCK_MONOTONIC);
    int tried = pthread_mutex_trylock(&normal);
    int timed = pthread_mutex_timedlock(&normal, &until);
    int clocked = pthread_mutex_clocklock(&normal, CLOCK_MONOTONIC, &monotonic);
    printf("%d %d %d\n", tried == EBUSY, timed == ETIMEDOUT, clocked == ETIMEDOUT);
    return unused;
}

int main(void) {
    pthread_t thread;
    struct timespec until = { 1ll << 40, 0 };
    init(&recursive, PTHREAD_MUTEX_RECURSIVE);
    init(&checked, PTHREAD_MUTEX_ERRORCHECK);

    pthread_mutex_lock(&normal);
    pthread_create(&thread, NULL, late, NULL);
    pthread_join(thread, NULL);
    pthread_mutex_unlock(&normal);

    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);

    pthread_mutex_lock(&checked);
    printf("%d\n", pthread_mutex_lock(&checked) == EDEADLK);
    pthread_mutex_unlock(&checked);

    pthread_mutex_trylock(&normal);
    pthread_mutex_unlock(&normal);
    pthread_mutex_timedlock(&normal, &until);
    pthread_mutex_unlock(&normal);
    pthread_mutex_clocklock(&normal, CLOCK_MONOTONIC, &until);
    pthread_mutex_unlock(&normal);

    pthread_mutex_destroy(&recursive);
    pthread_mutex_destroy(&checked);
    return 0;
}
