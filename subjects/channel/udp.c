// A worker adds to a total as soon as a datagram comes.
// Bug: the first thread adds after it has let the worker go on, so that one of the two may be
// lost.
// Finds: race on total; assertion
// The twin is udp_fixed.c.
#undef NDEBUG
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

static int total;
static int here, there;
static struct sockaddr_in address = { .sin_family = AF_INET };
static socklen_t size = sizeof address;

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    char got[8];
    assert(recvfrom(there, got, sizeof got, 0, NULL, NULL) == 2);
    add();
    return argument;
}

int main(void) {
    pthread_t worker;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    there = socket(AF_INET, SOCK_DGRAM, 0);
    assert(bind(there, (struct sockaddr *)&address, size) == 0);
    assert(getsockname(there, (struct sockaddr *)&address, &size) == 0);
    here = socket(AF_INET, SOCK_DGRAM, 0);
    pthread_create(&worker, NULL, work, NULL);
    assert(sendto(here, "go", 2, 0, (struct sockaddr *)&address, size) == 2);
    add();
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
