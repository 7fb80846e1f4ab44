// The twin of poll.c: a worker adds to a total as soon as `poll` finds a pipe ready, which it
// does not read.
// The first thread adds before that: a call that waits for files returns after what made the file
// ready.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static int total;
static int ends[2];

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    struct pollfd ready = { .fd = ends[0], .events = POLLIN };
    assert(poll(&ready, 1, -1) == 1);
    add();
    return argument;
}

int main(void) {
    pthread_t worker;
    assert(pipe(ends) == 0);
    pthread_create(&worker, NULL, work, NULL);
    add();
    assert(write(ends[1], "g", 1) == 1);
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
