// A server answers through one end of a pair of sockets, which the first thread closes.
// Bug: the server says that it has answered before it does.
// Finds: descriptor on descriptor; misuse
// The twin is socket_send_fixed.c.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static int pair[2];
static atomic_int answered;

static void *answer(void *unused) {
    char asked;
    if (recv(pair[1], &asked, 1, 0) != 1) return unused;
    atomic_store(&answered, 1);
    if (send(pair[1], "!", 1, 0) != 1) perror("send");
    return unused;
}

int main(void) {
    pthread_t server;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 2;
    if (pthread_create(&server, NULL, answer, NULL) != 0) return 2;
    if (send(pair[0], "?", 1, 0) != 1) return 2;
    while (!atomic_load(&answered)) {
    }
    close(pair[1]);
    pthread_join(server, NULL);
    puts("answered");
    return 0;
}
