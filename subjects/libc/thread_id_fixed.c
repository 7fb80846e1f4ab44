// The twin of thread_id.c: three threads count their visits in one of two counters, which they choose by
// their kernel id. A lock protects the counters.
// Finds: nothing harmful
#define _GNU_SOURCE
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static int visits[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *visit(void *argument) {
    int chosen = gettid() % 2;
    pthread_mutex_lock(&lock);
    int seen = visits[chosen];
    visits[chosen] = seen + 1;
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, visit, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    assert(visits[0] + visits[1] == 3);
    return 0;
}
