// A waiter serves under a lock and says when it is done; the first thread then closes the restaurant.
// Bug: the waiter says so before it has unlocked, so the lock may be destroyed while it is locked.
// Finds: lock-misuse on gate; misuse
// The twin is destroy_locked_fixed.c.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_int finished;
static int orders;

static void *serve(void *unused) {
    pthread_mutex_lock(&gate);
    orders++;
    atomic_store(&finished, 1);
    pthread_mutex_unlock(&gate);
    return unused;
}

int main(void) {
    pthread_t waiter;
    if (pthread_create(&waiter, NULL, serve, NULL) != 0) return 2;
    while (!atomic_load(&finished)) {
    }
    pthread_mutex_destroy(&gate);
    pthread_join(waiter, NULL);
    printf("%d\n", orders);
    return 0;
}
