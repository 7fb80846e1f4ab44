// Three threads count their visits in one of two counters, which they choose by their kernel id.
// Bug: nothing protects the counters: a visit is lost if two threads choose the same one.
// Finds: race on visits; assertion
// The twin is thread_id_fixed.c.
#define _GNU_SOURCE
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static int visits[2];

static void *visit(void *argument) {
    int chosen = gettid() % 2;
    int seen = visits[chosen];
    visits[chosen] = seen + 1;
    return argument;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, visit, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    assert(visits[0] + visits[1] == 3);
    return 0;
}
