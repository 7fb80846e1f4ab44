// A thread that may be cancelled anywhere counts until it is cancelled, and another one while it waits for a lock.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static volatile long count;

static void *spin(void *unused) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;) count++;
    return unused;
}

static void *block(void *unused) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_mutex_lock(&held);
    for (;;) count++;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    void *results[2];
    pthread_mutex_lock(&held);
    pthread_create(&threads[0], NULL, spin, NULL);
    pthread_create(&threads[1], NULL, block, NULL);
    for (int i = 0; i < 2; i++) pthread_cancel(threads[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], &results[i]);
    printf("%d\n", (results[0] == PTHREAD_CANCELED) + (results[1] == PTHREAD_CANCELED));
    return results[0] != PTHREAD_CANCELED || results[1] != PTHREAD_CANCELED;
}
