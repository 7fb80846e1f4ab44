// A worker compares itself with the thread that is known as the worker.
// Bug: the worker can begin before its handle, which the function that creates it returns, is stored.
// After an error in Mozilla, in which a thread reads its own handle too early.
// Finds: order on worker; assertion
// The twin is handle_fixed.c.
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
    pthread_t thread = create();
    pthread_mutex_lock(&lock);
    worker = thread;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    printf("done\n");
    return 0;
}
