// The threads, mutexes and conditions of C11.
// Events: T0 forks and joins T0.1 and forks and detaches T0.2; the mutexes are taken and given
// back in order; a try of a taken one fails with EBUSY (16), a limited wait with ETIMEDOUT (110),
// by whatever names C11 has for them; T0.1's wait is woken by T0's signal; T0's last wait ends by
// its time; `once` begins and ends, then is found done; a key is made, and goes.
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

static mtx_t plain, recursive, timed;
static cnd_t ready, detached;
static once_flag once = ONCE_FLAG_INIT;
static sem_t waiting;
static int go, gone, runs;

static void run(void) {
    runs++;
}

static struct timespec soon(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    time.tv_nsec += 1000000;
    if (time.tv_nsec >= 1000000000) time.tv_sec++, time.tv_nsec -= 1000000000;
    return time;
}

static int wait(void *unused) {
    (void)unused;
    mtx_lock(&plain);
    sem_post(&waiting);
    while (!go) cnd_wait(&ready, &plain);
    mtx_unlock(&plain);
    struct timespec until = soon();
    int tried = mtx_trylock(&timed) == thrd_busy;
    printf("%d %d\n", tried, mtx_timedlock(&timed, &until) == thrd_timedout);
    return 41;
}

static int leave(void *unused) {
    (void)unused;
    mtx_lock(&plain);
    gone = 1;
    cnd_signal(&detached);
    mtx_unlock(&plain);
    return 0;
}

int main(void) {
    thrd_t thread;
    int result;
    sem_init(&waiting, 0, 0);
    mtx_init(&plain, mtx_plain);
    mtx_init(&recursive, mtx_plain | mtx_recursive);
    mtx_init(&timed, mtx_timed);
    cnd_init(&ready);
    cnd_init(&detached);
    mtx_lock(&timed);
    thrd_create(&thread, wait, NULL);
    sem_wait(&waiting);
    mtx_lock(&plain);
    go = 1;
    cnd_signal(&ready);
    mtx_unlock(&plain);
    thrd_join(thread, &result);
    printf("%d\n", result);
    mtx_unlock(&timed);
    mtx_lock(&recursive);
    mtx_lock(&recursive);
    mtx_unlock(&recursive);
    mtx_unlock(&recursive);
    call_once(&once, run);
    call_once(&once, run);
    thrd_create(&thread, leave, NULL);
    thrd_detach(thread);
    mtx_lock(&plain);
    while (!gone) cnd_wait(&detached, &plain);
    struct timespec until = soon();
    printf("%d\n", cnd_timedwait(&ready, &plain, &until) == thrd_timedout);
    mtx_unlock(&plain);
    cnd_destroy(&ready);
    mtx_destroy(&recursive);
    tss_t key;
    printf("%d\n", tss_create(&key, NULL) == thrd_success);
    tss_set(key, &runs);
    printf("%d\n", *(int *)tss_get(key));
    tss_delete(key);
    printf("%d\n", runs);
    return 0;
}
