// Two threads talk over a pair of sockets. The first asks, waits for the answer for at most five
// seconds, in `select` and in `recvfrom`, and looks whether there is more without waiting. The second
// takes its time: it does a lot before it answers.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int ends[2];
static volatile int work[64];

static void *answer(void *unused) {
    char question[8];
    for (int i = 0; i < 2; i++) {
        if (recvfrom(ends[1], question, sizeof question, 0, NULL, NULL) != 4) return NULL;
        for (int k = 0; k < 2000; k++) work[k % 64]++;
        if (sendto(ends[1], "yes", 4, 0, NULL, 0) != 4) return NULL;
    }
    return unused;
}

static int fail(const char *what) {
    printf("%s: %s\n", what, strerror(errno));
    return 1;
}

int main(void) {
    pthread_t peer;
    char text[8];
    struct timeval limit = { 5, 0 };
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return 2;
    if (setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0) return 2;
    if (pthread_create(&peer, NULL, answer, NULL) != 0) return 2;

    fd_set files;
    FD_ZERO(&files);
    FD_SET(ends[0], &files);
    if (send(ends[0], "one", 4, 0) != 4) return 2;
    if (select(ends[0] + 1, &files, NULL, NULL, &limit) != 1) return fail("select");
    if (recv(ends[0], text, sizeof text, MSG_DONTWAIT) != 4) return fail("recv");

    if (send(ends[0], "two", 4, 0) != 4) return 2;
    if (recvfrom(ends[0], text, sizeof text, 0, NULL, NULL) != 4) return fail("recvfrom");
    pthread_join(peer, NULL);

    if (recv(ends[0], text, sizeof text, MSG_DONTWAIT) != -1 || errno != EAGAIN) return fail("more");
    if (read(ends[0], text, sizeof text) != -1 || errno != EAGAIN) return fail("late");
    puts("two answers");
    return 0;
}
