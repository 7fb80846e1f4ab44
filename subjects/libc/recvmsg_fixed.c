// The twin of recvmsg.c: a thread receives a message by `recvmsg`.
// The other thread looks at the message when that one has ended.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>

static char message[4] = "aaaa";
static int ends[2];

static void *work(void *argument) {
    struct iovec part = { message, 4 };
    struct msghdr head = { .msg_iov = &part, .msg_iovlen = 1 };
    assert(recvmsg(ends[0], &head, 0) == 4);
    return argument;
}

int main(void) {
    pthread_t worker;
    assert(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
    assert(send(ends[1], "bbbb", 4, 0) == 4);
    pthread_create(&worker, NULL, work, NULL);
    pthread_join(worker, NULL);
    char first = message[0];
    char last = message[3];
    assert(first == last);
    return 0;
}
