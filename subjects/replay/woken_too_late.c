// A consumer is woken by a producer that fails while it still holds the mutex: the consumer is then
// blocked by the mutex, in the middle of its wait on the condition variable.
// Consequence: assertion, if the consumer waits before the producer runs
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int hungry, items;

static void *consumer(void *unused) {
    pthread_mutex_lock(&mutex);
    hungry++;
    while (items == 0)
      pthread_cond_wait(&filled, &mutex);
    items--;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *producer(void *unused) {
    pthread_mutex_lock(&mutex);
    items++;
    if (hungry > 0) {
      pthread_cond_broadcast(&filled);
      hungry = 0;
      assert(items == 0 && "the consumer should have been faster");
    }
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, consumer, 0);
    pthread_create(&threads[1], 0, producer, 0);
    pthread_join(threads[1], 0);
    pthread_join(threads[0], 0);
    printf("%d items\n", items);
    return 0;
}
