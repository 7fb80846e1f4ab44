// A client takes the last request of a queue if there is one, and a cleaner empties the queue.
// Bug: the client looks in one critical section whether there is a request, and takes it in the next
// one; the queue can be empty by then.
// After an error in Jigsaw 2.2, in which a queue is emptied between the check and the use.
// Finds: order on queue; signal
// The twin is request_queue_fixed.c.
#include <pthread.h>
#include <stdio.h>

struct request {
    struct request *next;
    int number;
};

static struct request last = { NULL, 7 };
static struct request *queue = &last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *client(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int there = queue != NULL;
    pthread_mutex_unlock(&lock);
    if (!there) return NULL;
    pthread_mutex_lock(&lock);
    int number = queue->number;
    pthread_mutex_unlock(&lock);
    printf("request %d\n", number);
    return NULL;
}

static void *cleaner(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    queue = NULL;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, client, NULL) != 0) return 2;
    if (pthread_create(&threads[1], NULL, cleaner, NULL) != 0) return 2;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
