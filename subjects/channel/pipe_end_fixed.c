// The twin of pipe_end.c: a worker adds to a total when it finds the end of a pipe.
// The first thread adds before that: the pipe is closed before its end is read.
// Finds: nothing harmful
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
    add();
    assert(close(ends[1]) == 0);
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
