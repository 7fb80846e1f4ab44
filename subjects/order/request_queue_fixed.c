// The twin of request_queue.c: a client takes the last request of a queue if there is one, and a
// cleaner empties the queue. The client looks and takes in one critical section.
// Finds: nothing harmful
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
    int number = there ? queue->number : 0;
    pthread_mutex_unlock(&lock);
    if (there) printf("request %d\n", number);
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
