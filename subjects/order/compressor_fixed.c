// The twin of compressor.c: a consumer compresses blocks that the owner of a queue puts there. When
// the consumer has ended, the owner destroys the lock of the queue.
// Finds: nothing harmful
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

enum { BLOCKS = 2 };

struct fifo {
    pthread_mutex_t lock;
    int blocks;
};

static struct fifo fifo;
static sem_t done;
static int compressed;

static int take(void) {
    pthread_mutex_lock(&fifo.lock);
    int block = fifo.blocks;
    if (block > 0) fifo.blocks--;
    pthread_mutex_unlock(&fifo.lock);
    return block;
}

static void *consumer(void *unused) {
    (void)unused;
    while (take() > 0) {
        compressed++;
        if (compressed == BLOCKS) sem_post(&done);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_init(&fifo.lock, NULL);
    sem_init(&done, 0, 0);
    fifo.blocks = BLOCKS;
    if (pthread_create(&thread, NULL, consumer, NULL) != 0) return 2;
    sem_wait(&done);
    pthread_join(thread, NULL);
    pthread_mutex_destroy(&fifo.lock);
    printf("compressed: %d\n", compressed);
    return 0;
}
