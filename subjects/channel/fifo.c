// A worker adds to a total as soon as a byte comes through a named pipe.
// Bug: the first thread adds after it has let the worker go on, so that one of the two may be
// lost.
// Finds: race on total; assertion
// The twin is fifo_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int total;
static int ends[2];

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    char got[2];
    assert(read(ends[0], got, 2) == 2);
    add();
    return argument;
}

int main(void) {
    pthread_t worker;
    char path[64];
    snprintf(path, sizeof path, "/tmp/norn-fifo-%d", (int)getpid());
    assert(mkfifo(path, 0600) == 0);
    ends[0] = open(path, O_RDWR);
    ends[1] = open(path, O_WRONLY);
    assert(unlink(path) == 0 && ends[0] >= 0 && ends[1] >= 0);
    pthread_create(&worker, NULL, work, NULL);
    assert(write(ends[1], "go", 2) == 2);
    add();
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
