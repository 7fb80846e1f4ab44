// A bounded queue with one mutex and two conditions: producers and consumers hand over small
// messages and check sums over them.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ROOM 64

struct message { long number, payload[6]; };

static struct message ring[ROOM];
static int head, count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static long messages;
static long total;

static void *produce(void *unused) {
    for (long i = 0; i < messages; i++) {
        struct message m = { i, { i, i + 1, i + 2, i + 3, i + 4, i + 5 } };
        pthread_mutex_lock(&lock);
        while (count == ROOM) pthread_cond_wait(&emptied, &lock);
        ring[(head + count++) % ROOM] = m;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *consume(void *unused) {
    long sum = 0;
    for (long i = 0; i < messages; i++) {
        pthread_mutex_lock(&lock);
        while (count == 0) pthread_cond_wait(&filled, &lock);
        struct message m = ring[head];
        head = (head + 1) % ROOM;
        count--;
        pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&lock);
        for (int k = 0; k < 6; k++) sum += m.payload[k];
    }
    __atomic_fetch_add(&total, sum, __ATOMIC_RELAXED);
    return unused;
}

int main(int argc, char **argv) {
    messages = argc > 1 ? atol(argv[1]) : 500000;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, produce, NULL);
    pthread_create(&threads[1], NULL, consume, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%ld\n", total);
    return 0;
}
