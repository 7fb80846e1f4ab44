// A thread receives a message by `recvmsg` while another one looks at it.
// Bug: nothing protects the message: the thread may see a half of it.
// Finds: race on message; assertion
// The twin is recvmsg_fixed.c.
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
    char first = message[0];
    char last = message[3];
    pthread_join(worker, NULL);
    assert(first == last);
    return 0;
}
