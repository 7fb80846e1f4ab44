// A read-write lock in all ways to lock it.
// Events of T0: taken to read and given back, in four ways; then to write. T0.1 finds it taken to
// read: it may read, but not write (EBUSY 16, then twice ETIMEDOUT 110). T0.2 finds it taken to
// write: neither (EBUSY; ETIMEDOUT). A release says what the lock was held for.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_rwlock_t rw;

static struct timespec soon(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += 1000000;
    if (time.tv_nsec >= 1000000000) time.tv_sec++, time.tv_nsec -= 1000000000;
    return time;
}

static void *beside_reader(void *unused) {
    int sum = pthread_rwlock_rdlock(&rw);
    sum += pthread_rwlock_unlock(&rw);
    struct timespec until = soon(CLOCK_REALTIME), monotonic = soon(CLOCK_MONOTONIC);
    sum += pthread_rwlock_trywrlock(&rw) == EBUSY;
    sum += pthread_rwlock_timedwrlock(&rw, &until) == ETIMEDOUT;
    sum += pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, &monotonic) == ETIMEDOUT;
    printf("%d\n", sum);
    return unused;
}

static void *beside_writer(void *unused) {
    struct timespec until = soon(CLOCK_REALTIME), monotonic = soon(CLOCK_MONOTONIC);
    int sum = pthread_rwlock_tryrdlock(&rw) == EBUSY;
    sum += pthread_rwlock_timedrdlock(&rw, &until) == ETIMEDOUT;
    sum += pthread_rwlock_clockrdlock(&rw, CLOCK_MONOTONIC, &monotonic) == ETIMEDOUT;
    printf("%d\n", sum);
    return unused;
}

static void beside(void *(*run)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
}

int main(void) {
    struct timespec until = { 1ll << 40, 0 };
    pthread_rwlock_init(&rw, NULL);
    pthread_rwlock_rdlock(&rw);
    beside(beside_reader);
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_tryrdlock(&rw);
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_timedrdlock(&rw, &until);
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_clockrdlock(&rw, CLOCK_MONOTONIC, &until);
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_wrlock(&rw);
    beside(beside_writer);
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_trywrlock(&rw);
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_timedwrlock(&rw, &until);
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, &until);
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_destroy(&rw);
    return 0;
}
