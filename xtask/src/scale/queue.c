// Producers and consumers with a bounded queue, a mutex and two condition variables; the number of
// items that are left is read without the mutex. Argument: the approximate number of events.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAIRS = 2, CAPACITY = 64, WORK = 24 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, drained = PTHREAD_COND_INITIALIZER;
static long *queue[CAPACITY];
static int first, length;
static long items, done;

static void *produce(void *arg) {
    for (long it = 0; it < items; it++) {
        long *item = malloc(WORK * sizeof *item);
        for (int at = 0; at < WORK; at++)
            item[at] = it + at;
        pthread_mutex_lock(&lock);
        while (length == CAPACITY)
            pthread_cond_wait(&drained, &lock);
        queue[(first + length++) % CAPACITY] = item;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *consume(void *arg) {
    for (long it = 0; it < items; it++) {
        pthread_mutex_lock(&lock);
        while (length == 0)
            pthread_cond_wait(&filled, &lock);
        long *item = queue[first];
        first = (first + 1) % CAPACITY;
        length--;
        pthread_cond_signal(&drained);
        pthread_mutex_unlock(&lock);
        long sum = 0;
        for (int at = 0; at < WORK; at++)
            sum += item[at];
        free(item);
        if (sum < 0)
            abort();
        if (it % 256 == 0)
            done++;
    }
    return arg;
}

int main(int argc, char **argv) {
    items = atol(argc > 1 ? argv[1] : "100000") / PAIRS / (2 * WORK + 28) + 1;
    pthread_t threads[2 * PAIRS];
    for (int it = 0; it < 2 * PAIRS; it++)
        pthread_create(&threads[it], NULL, it < PAIRS ? produce : consume, NULL);
    for (int it = 0; it < 2 * PAIRS; it++)
        pthread_join(threads[it], NULL);
    printf("%d %d\n", length, done > 0);
    return 0;
}
