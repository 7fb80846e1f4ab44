// A consumer that finds nothing says that it waits; a producer wakes up who says so.
// Bug: the consumer looks in one critical section and says that it waits in the next one. What the
// producer does in between wakes nobody up.
// Finds: atomic-set on items, waiting; deadlock
// The twin is producer_consumer_fixed.c.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t produced = PTHREAD_COND_INITIALIZER;
static int items;
static int waiting;
static int woken;

static void *consumer(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int there = items > 0;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    if (!there) {
        waiting = 1;
        while (!woken) pthread_cond_wait(&produced, &lock);
        waiting = 0;
    }
    items--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *producer(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    items++;
    if (waiting) {
        woken = 1;
        pthread_cond_signal(&produced);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, consumer, NULL) != 0) return 2;
    if (pthread_create(&threads[1], NULL, producer, NULL) != 0) return 2;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("items left: %d\n", items);
    return 0;
}
