// A worker adds to a total as soon as `select` finds a pipe ready, which it does not read.
// Bug: the first thread adds after it has let the worker go on, so that one of the two may be
// lost.
// Finds: race on total; assertion
// The twin is select_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <sys/select.h>
#include <unistd.h>

static int total;
static int ends[2];

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    fd_set ready;
    FD_ZERO(&ready);
    FD_SET(ends[0], &ready);
    assert(select(ends[0] + 1, &ready, NULL, NULL, NULL) == 1);
    add();
    return argument;
}

int main(void) {
    pthread_t worker;
    assert(pipe(ends) == 0);
    pthread_create(&worker, NULL, work, NULL);
    assert(write(ends[1], "g", 1) == 1);
    add();
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
