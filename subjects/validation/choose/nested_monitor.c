// A device has a lock, and inside it a queue with its own lock and condition.
// Bug (deadlock): `read_device` waits for the queue while it holds the lock of the device, which
// `interrupt` needs before it can fill the queue.
// Consequence: deadlock
// The twin is nested_monitor_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { MOST = 4 };

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    int items[MOST];
    int count;
};

struct device {
    pthread_mutex_t lock;
    struct queue queue;
    int interrupts, reads;
};

static struct device device = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER },
};

static void put(struct queue *queue, int item) {
    pthread_mutex_lock(&queue->lock);
    queue->items[queue->count++] = item;
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

static int take(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    while (queue->count == 0) pthread_cond_wait(&queue->filled, &queue->lock);
    int item = queue->items[--queue->count];
    pthread_mutex_unlock(&queue->lock);
    return item;
}

static void *interrupt(void *unused) {
    for (int i = 1; i <= 2; i++) {
        pthread_mutex_lock(&device.lock);
        device.interrupts++;
        pthread_mutex_unlock(&device.lock);
        put(&device.queue, i);
    }
    return unused;
}

static int read_device(void) {
    pthread_mutex_lock(&device.lock);
    device.reads++;
#ifdef FIXED
    pthread_mutex_unlock(&device.lock);
    return take(&device.queue);
#else
    int item = take(&device.queue);
    pthread_mutex_unlock(&device.lock);
    return item;
#endif
}

static void *consume(void *argument) {
    *(int *)argument = read_device() + read_device();
    return NULL;
}

int main(void) {
    pthread_t hardware, reader;
    int sum = 0;
    pthread_create(&hardware, NULL, interrupt, NULL);
    usleep(1000);
    pthread_create(&reader, NULL, consume, &sum);
    pthread_join(hardware, NULL);
    pthread_join(reader, NULL);
    printf("sum %d\n", sum);
    assert(sum == 3);
    return 0;
}
