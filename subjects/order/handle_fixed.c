// The twin of handle.c: a worker compares itself with the thread that is known as the worker. Its
// creator holds the lock until the handle is stored.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_t worker;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    pthread_t me = worker;
    pthread_mutex_unlock(&lock);
    assert(pthread_equal(me, pthread_self()));
    return NULL;
}

static pthread_t create(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0) exit(2);
    return thread;
}

int main(void) {
    pthread_mutex_lock(&lock);
    pthread_t thread = create();
    worker = thread;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    printf("done\n");
    return 0;
}
