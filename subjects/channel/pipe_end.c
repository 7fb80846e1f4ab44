// A worker adds to a total when it finds the end of a pipe.
// Bug: the first thread adds after it has let the worker go on, so that one of the two may be
// lost.
// Finds: race on total; assertion
// The twin is pipe_end_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static int total;
static int ends[2];

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    char got;
    assert(read(ends[0], &got, 1) == 0);
    add();
    return argument;
}

int main(void) {
    pthread_t worker;
    assert(pipe(ends) == 0);
    pthread_create(&worker, NULL, work, NULL);
    assert(close(ends[1]) == 0);
    add();
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
