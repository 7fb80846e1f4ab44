// The twin of cache.c: a cache of computed values; an evictor makes room in it. To ask for a value
// and to fetch it is one critical section.
// Finds: nothing harmful
#include <pthread.h>
#include <stdio.h>

enum { ROOM = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const int squares[ROOM] = { 0, 1, 4, 9 };
static const int *cache[ROOM];

static void put(int key) {
    pthread_mutex_lock(&lock);
    cache[key] = &squares[key];
    pthread_mutex_unlock(&lock);
}

static void evict(int key) {
    pthread_mutex_lock(&lock);
    cache[key] = NULL;
    pthread_mutex_unlock(&lock);
}

static int square(int key) {
    pthread_mutex_lock(&lock);
    const int *value = cache[key];
    pthread_mutex_unlock(&lock);
    return value != NULL ? *value : key * key;
}

static void *reader(void *sum) {
    for (int key = 2; key < ROOM; key++) *(int *)sum += square(key);
    return NULL;
}

static void *evictor(void *unused) {
    (void)unused;
    evict(2);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int sum = 0;
    for (int key = 0; key < ROOM; key++) put(key);
    if (pthread_create(&threads[0], NULL, reader, &sum) != 0) return 2;
    if (pthread_create(&threads[1], NULL, evictor, NULL) != 0) return 2;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("sum: %d\n", sum);
    return 0;
}
