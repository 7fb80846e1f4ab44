// A worker ends early when it is told to stop.
// Bug: it then ends with the lock.
// Consequence: misuse, if it is told while it works.
// The twin is early_return_fixed.c.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int stopped;
static int done;

static void *work(void *unused) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        if (atomic_load(&stopped)) {
            return unused;
        }
        done++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t worker;
    if (pthread_create(&worker, NULL, work, NULL) != 0) return 2;
    atomic_store(&stopped, 1);
    pthread_join(worker, NULL);
    printf("%d\n", done);
    return 0;
}
