// A worker adds to a total as soon as bytes come through a connection to a local address.
// Bug: the first thread adds after it has let the worker go on, so that one of the two may be
// lost.
// Finds: race on total; assertion
// The twin is unix_path_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
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
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "norn-%d", (int)getpid());
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    assert(listen(listener, 1) == 0);
    ends[0] = socket(AF_UNIX, SOCK_STREAM, 0);
    assert(connect(ends[0], (struct sockaddr *)&address, sizeof address) == 0);
    ends[1] = accept(listener, NULL, NULL);
    assert(ends[1] >= 0);
    pthread_create(&worker, NULL, work, NULL);
    assert(write(ends[1], "go", 2) == 2);
    add();
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
