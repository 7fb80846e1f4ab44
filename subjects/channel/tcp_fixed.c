// The twin of tcp.c: a worker adds to a total as soon as bytes come through a connection.
// The first thread adds before that: bytes are sent before they are received.
// Finds: nothing harmful
#undef NDEBUG
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int total;
static int ends[2];

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    char got;
    assert(read(ends[1], &got, 1) == 1 && recv(ends[1], &got, 1, 0) == 1);
    add();
    return argument;
}

int main(void) {
    pthread_t worker;
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert(bind(listener, (struct sockaddr *)&address, size) == 0);
    assert(listen(listener, 1) == 0);
    assert(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    assert(connect(ends[0], (struct sockaddr *)&address, size) == 0);
    ends[1] = accept(listener, NULL, NULL);
    assert(ends[1] >= 0);
    pthread_create(&worker, NULL, work, NULL);
    add();
    assert(send(ends[0], "go", 2, 0) == 2);
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
