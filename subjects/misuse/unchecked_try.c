// A tally is shown if its lock is free.
// Bug: it is shown and unlocked even if another thread holds the lock.
// Consequence: misuse, if the other thread counts at that time.
// The twin is unchecked_try_fixed.c.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int tally;

static void *count(void *unused) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        tally++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void show(void) {
    pthread_mutex_trylock(&lock);
    int seen = tally;
    pthread_mutex_unlock(&lock);
    printf("%d\n", seen);
}

int main(void) {
    pthread_t counter;
    if (pthread_create(&counter, NULL, count, NULL) != 0) return 2;
    show();
    pthread_join(counter, NULL);
    return 0;
}
