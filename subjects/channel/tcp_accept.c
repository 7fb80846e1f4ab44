// A worker adds to a total as soon as it has accepted a connection.
// Bug: the first thread adds after it has let the worker go on, so that one of the two may be
// lost.
// Finds: race on total; assertion
// The twin is tcp_accept_fixed.c.
#undef NDEBUG
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int total;
static int listener, client;
static struct sockaddr_in address = { .sin_family = AF_INET };
static socklen_t size = sizeof address;

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    assert(accept(listener, NULL, NULL) >= 0);
    add();
    return argument;
}

int main(void) {
    pthread_t worker;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    assert(bind(listener, (struct sockaddr *)&address, size) == 0);
    assert(listen(listener, 1) == 0);
    assert(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    client = socket(AF_INET, SOCK_STREAM, 0);
    pthread_create(&worker, NULL, work, NULL);
    assert(connect(client, (struct sockaddr *)&address, size) == 0);
    add();
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
