// A worker adds to a total as soon as a message comes through a pair of sockets.
// Bug: the first thread adds after it has let the worker go on, so that one of the two may be
// lost.
// Finds: race on total; assertion
// The twin is socket_pair_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>

static int total;
static int ends[2];

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    char got[8];
    assert(recv(ends[1], got, sizeof got, 0) == 2);
    add();
    return argument;
}

int main(void) {
    pthread_t worker;
    assert(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    pthread_create(&worker, NULL, work, NULL);
    assert(send(ends[0], "go", 2, 0) == 2);
    add();
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
