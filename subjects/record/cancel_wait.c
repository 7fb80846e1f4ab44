// A thread is cancelled while it waits for a condition; its cleanup handler has the mutex.
// Events of T0.1: acquire m, post of `ready`, the mutex given back, the wait, the mutex again with
// the error ECANCELED (125); then, with the mutex, the write of 1 to `cleaned`; release m; end.
// Events of T0: fork, wait for `ready`, acquire and release m (the other waits now), cancel, join.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t ready;
static int cleaned;

static void clean(void *unused) {
    (void)unused;
    cleaned = 1;
    pthread_mutex_unlock(&m);
}

static void *wait(void *unused) {
    pthread_mutex_lock(&m);
    pthread_cleanup_push(clean, NULL);
    sem_post(&ready);
    for (;;) pthread_cond_wait(&never, &m);
    pthread_cleanup_pop(1);
    return unused;
}

int main(void) {
    pthread_t thread;
    void *result;
    sem_init(&ready, 0, 0);
    pthread_create(&thread, NULL, wait, NULL);
    sem_wait(&ready);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    printf("%d %d\n", result == PTHREAD_CANCELED, cleaned);
    return 0;
}
