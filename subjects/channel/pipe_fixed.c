// The twin of pipe.c: a worker adds to a total as soon as a byte comes through a pipe.
// The first thread adds before that: the write into the pipe happens before the read that gets
// its byte.
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
    assert(read(ends[0], &got, 1) == 1);
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
