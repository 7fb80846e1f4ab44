// A semaphore that begins at 2, and a named one.
// Events of T0: init with 2; down twice; a try that fails with EAGAIN (11); up; down by trying;
// two limited waits that fail with ETIMEDOUT (110); up; down, limited; destroy. The named one: up,
// down.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static sem_t sem;

static struct timespec soon(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += 1000000;
    if (time.tv_nsec >= 1000000000) time.tv_sec++, time.tv_nsec -= 1000000000;
    return time;
}

int main(void) {
    struct timespec late = { 1ll << 40, 0 };
    sem_init(&sem, 0, 2);
    sem_wait(&sem);
    sem_wait(&sem);
    int failed = sem_trywait(&sem) == -1 && errno == EAGAIN;
    sem_post(&sem);
    sem_trywait(&sem);
    struct timespec until = soon(CLOCK_REALTIME), monotonic = soon(CLOCK_MONOTONIC);
    failed += sem_timedwait(&sem, &until) == -1 && errno == ETIMEDOUT;
    failed += sem_clockwait(&sem, CLOCK_MONOTONIC, &monotonic) == -1 && errno == ETIMEDOUT;
    sem_post(&sem);
    sem_timedwait(&sem, &late);
    sem_destroy(&sem);
    char name[40];
    snprintf(name, sizeof name, "/norn-test-%d", (int)getpid());
    sem_t *named = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
    if (named != SEM_FAILED) {
        sem_post(named);
        sem_wait(named);
        sem_close(named);
        sem_unlink(name);
    }
    printf("%d\n", failed);
    return 0;
}
