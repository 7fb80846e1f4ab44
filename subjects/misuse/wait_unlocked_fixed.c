// A drainer waits until a buffer is filled.
// It locks the mutex first.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static atomic_int filled;

static void *fill(void *unused) {
    pthread_mutex_lock(&lock);
    atomic_store(&filled, 1);
    pthread_cond_broadcast(&ready);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *drain(void *unused) {
    pthread_mutex_lock(&lock);
    while (!atomic_load(&filled)) pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t filler, drainer;
    if (pthread_create(&filler, NULL, fill, NULL) != 0) return 2;
    if (pthread_create(&drainer, NULL, drain, NULL) != 0) return 2;
    pthread_join(filler, NULL);
    pthread_join(drainer, NULL);
    puts("drained");
    return 0;
}
