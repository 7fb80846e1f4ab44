// The twin of socket_pair.c: a worker adds to a total as soon as a message comes through a pair
// of sockets.
// The first thread adds before that: the message is sent before it is received.
// Finds: nothing harmful
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
    add();
    assert(send(ends[0], "go", 2, 0) == 2);
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
