// A loader empties an index, lets a worker begin, fills the index and announces its parts. The worker notes the parts
// that are not announced yet, and then uses the index.
// Bug: nothing keeps the worker from using the empty index. In the recorded run all parts are announced. A worker
// that comes earlier takes another path: it notes each missing part.
// Finds: order on rows; assertion
// The twin is reindex_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

enum { PARTS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t begun;
static int rows = 8;
static pthread_mutex_t announcing = PTHREAD_MUTEX_INITIALIZER;
static int announced[PARTS];
static atomic_int notes;

static void set_rows(int to) {
    pthread_mutex_lock(&lock);
    rows = to;
    pthread_mutex_unlock(&lock);
}

static void *load(void *unused) {
#ifndef FIXED
    set_rows(0);
#endif
    sem_post(&begun);
    set_rows(12);
    for (int part = 0; part < PARTS; part++) {
        pthread_mutex_lock(&announcing);
        announced[part] = 1;
        pthread_mutex_unlock(&announcing);
    }
    return unused;
}

static void *work(void *unused) {
    sem_wait(&begun);
    for (int part = 0; part < PARTS; part++) {
        pthread_mutex_lock(&announcing);
        int is_announced = announced[part];
        pthread_mutex_unlock(&announcing);
        if (!is_announced) atomic_fetch_add(&notes, 1);
    }
    pthread_mutex_lock(&lock);
    int used = rows;
    pthread_mutex_unlock(&lock);
    assert(used > 0);
    return unused;
}

int main(void) {
    pthread_t loader, worker;
    sem_init(&begun, 0, 0);
    pthread_create(&loader, NULL, load, NULL);
    pthread_create(&worker, NULL, work, NULL);
    pthread_join(loader, NULL);
    pthread_join(worker, NULL);
    printf("done\n");
    return 0;
}
