// A cook waits for orders and a waiter waits for meals, both on the same condition variable.
// Bug (lost wake-up): `pthread_cond_signal` may wake the one whose condition does not hold, who waits again.
// Deep: the waiter must wait before the cook does, and both must wait when the last order comes.
// Consequence: deadlock
// The twin is two_predicates_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int orders, meals, served;

static void tell(void) {
#ifdef FIXED
    pthread_cond_broadcast(&changed);
#else
    pthread_cond_signal(&changed);
#endif
}

static void *cook(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        while (orders == 0) pthread_cond_wait(&changed, &lock);
        orders--;
        meals++;
        tell();
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *serve(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        while (meals == 0) pthread_cond_wait(&changed, &lock);
        meals--;
        served++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *order(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        orders++;
        tell();
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, order, NULL);
    pthread_create(&threads[1], NULL, cook, NULL);
    pthread_create(&threads[2], NULL, serve, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    assert(served == 2);
    printf("served\n");
    return 0;
}
