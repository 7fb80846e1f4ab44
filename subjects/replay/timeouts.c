// Four threads wait for all that can be waited for with a limit of time, while two others let them
// go on, or hold what they want. Who comes in time is up to the schedule; each says what it got
// and when.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/select.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static mtx_t plain;
static cnd_t news;
static sem_t items;
static int ends[2];
static int ready;

static struct timespec after(clockid_t clock, long microseconds) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += microseconds * 1000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

static void say(const char *what, int result) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%s %d at %ld.%09ld\n", what, result, (long)now.tv_sec, now.tv_nsec);
}

static void *conditions(void *nothing) {
    struct timespec until = after(CLOCK_REALTIME, 30);
    pthread_mutex_lock(&mutex);
    int result = 0;
    while (!ready && result == 0) result = pthread_cond_timedwait(&cond, &mutex, &until);
    say("timedwait", result);
    until = after(CLOCK_MONOTONIC, 500000);
    result = pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &until);
    say("clockwait", result);
    pthread_mutex_unlock(&mutex);
    return nothing;
}

static void *locks(void *nothing) {
    struct timespec until = after(CLOCK_REALTIME, 20);
    int result = pthread_mutex_timedlock(&busy, &until);
    say("timedlock", result);
    if (result == 0) pthread_mutex_unlock(&busy);
    until = after(CLOCK_REALTIME, 2000000);
    result = pthread_rwlock_timedrdlock(&table, &until);
    say("timedrdlock", result);
    if (result == 0) pthread_rwlock_unlock(&table);
    until = after(CLOCK_MONOTONIC, 10);
    result = pthread_rwlock_clockwrlock(&table, CLOCK_MONOTONIC, &until);
    say("clockwrlock", result);
    if (result == 0) pthread_rwlock_unlock(&table);
    return nothing;
}

static void *counts(void *nothing) {
    struct timespec until = after(CLOCK_REALTIME, 1000000);
    for (int i = 0; i < 2; i++) say("sem_timedwait", sem_timedwait(&items, &until) ? errno : 0);
    struct pollfd file = {ends[0], POLLIN, 0};
    say("poll", poll(&file, 1, 700));
    fd_set files;
    FD_ZERO(&files);
    FD_SET(ends[0], &files);
    struct timeval time = {0, 50};
    say("select", select(ends[0] + 1, &files, NULL, NULL, &time));
    return nothing;
}

static void *sleeps(void *nothing) {
    struct timespec until = after(CLOCK_REALTIME, 3);
    mtx_lock(&plain);
    say("cnd_timedwait", cnd_timedwait(&news, &plain, &until));
    mtx_unlock(&plain);
    usleep(40);
    say("usleep", 0);
    until = (struct timespec){1, 0};
    say("nanosleep", nanosleep(&until, NULL));
    return nothing;
}

static void *helps(void *nothing) {
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
    sem_post(&items);
    mtx_lock(&plain);
    cnd_signal(&news);
    mtx_unlock(&plain);
    usleep(100);
    if (write(ends[1], "x", 1) != 1) return NULL;
    pthread_mutex_lock(&mutex);
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&mutex);
    sem_post(&items);
    return nothing;
}

static void *hinders(void *nothing) {
    pthread_mutex_lock(&busy);
    pthread_rwlock_wrlock(&table);
    for (int i = 0; i < 10; i++) say("held", i);
    pthread_mutex_unlock(&busy);
    sleep(1);
    pthread_rwlock_unlock(&table);
    return nothing;
}

int main(void) {
    void *(*const all[])(void *) = {conditions, locks, counts, sleeps, helps, hinders};
    pthread_t threads[6];
    sem_init(&items, 0, 0);
    mtx_init(&plain, mtx_plain);
    cnd_init(&news);
    if (pipe(ends) != 0) return 2;
    for (int i = 0; i < 6; i++) pthread_create(&threads[i], NULL, all[i], NULL);
    for (int i = 0; i < 6; i++) pthread_join(threads[i], NULL);
    say("end", 0);
}
