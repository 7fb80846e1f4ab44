// The twin of flag_outside.c: one thread loads a picture, and another one shows it.
// Whether it is there is looked at with the mutex locked.
// Finds: nothing harmful
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static atomic_int loaded;

static void *load(void *unused) {
    pthread_mutex_lock(&lock);
    loaded = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *show(void *unused) {
    pthread_mutex_lock(&lock);
    while (!loaded) pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t shows, loads;
    if (pthread_create(&shows, NULL, show, NULL) != 0) return 2;
    if (pthread_create(&loads, NULL, load, NULL) != 0) return 2;
    pthread_join(shows, NULL);
    pthread_join(loads, NULL);
    printf("loaded: %d\n", loaded);
    return 0;
}
