// A buffer with room for two items between producers and consumers.
// Bug: who wakes up does not look again whether there is something: `if` where `while` should be.
// Another consumer can have been faster.
// Finds: atomicity on count; assertion
// The twin is bounded_buffer_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { ROOM = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;
static int items[ROOM];
static int count;
static int consumed;

static void put(int item) {
    pthread_mutex_lock(&lock);
    while (count == ROOM) pthread_cond_wait(&emptied, &lock);
    items[count++] = item;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}

static int take(void) {
    pthread_mutex_lock(&lock);
    if (count == 0) pthread_cond_wait(&filled, &lock);
    assert(count > 0);
    int item = items[--count];
    consumed += item;
    pthread_cond_signal(&emptied);
    pthread_mutex_unlock(&lock);
    return item;
}

static void *consume(void *unused) {
    (void)unused;
    take();
    return NULL;
}

static void *produce(void *unused) {
    (void)unused;
    put(1);
    put(2);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    if (pthread_create(&threads[0], NULL, consume, NULL) != 0) return 2;
    if (pthread_create(&threads[1], NULL, produce, NULL) != 0) return 2;
    if (pthread_create(&threads[2], NULL, consume, NULL) != 0) return 2;
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("consumed: %d\n", consumed);
    return 0;
}
