// Two threads talk: by a socket of the program itself, by a pipe, and by a pair of sockets. What
// comes is printed by a third way, standard output, without stdio.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static struct sockaddr_in address = {.sin_family = AF_INET};
static int pipes[2], pair[2];

static void say(const char *what) {
    if (write(1, what, strlen(what)) < 0) _exit(3);
}

static void *call(void *arg) {
    int caller = socket(AF_INET, SOCK_STREAM, 0);
    char answer[8] = {0};
    if (connect(caller, (struct sockaddr *)&address, sizeof address)) return "no connection";
    if (write(caller, "hello\n", 6) != 6) return "no word";
    say("said\n");
    if (read(caller, answer, 8) != 6) return "no answer";
    say(answer);
    struct iovec parts[2] = {{"aga", 3}, {"in\n", 3}};
    if (writev(caller, parts, 2) != 6) return "no more words";
    close(caller);
    if (write(pipes[1], "pipe\n", 5) != 5 || send(pair[1], "pair\n", 5, 0) != 5) return "no pipe";
    return arg;
}

static int hear_again(int called) {
    char start[4] = {0}, rest[8] = {0};
    struct iovec parts[2] = {{start, 3}, {rest, 7}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    fd_set readable;
    FD_ZERO(&readable);
    FD_SET(called, &readable);
    if (select(called + 1, &readable, NULL, NULL, NULL) != 1 || !FD_ISSET(called, &readable)) return 0;
    if (recvmsg(called, &message, 0) != 6) return 0;
    say(start);
    say(rest);
    return 1;
}

int main(void) {
    pthread_t thread;
    void *wrong = NULL;
    char text[16] = {0};
    socklen_t len = sizeof address;
    int server = socket(AF_INET, SOCK_STREAM, 0), many = epoll_create1(0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(server, (struct sockaddr *)&address, len) || listen(server, 1)) return 2;
    if (getsockname(server, (struct sockaddr *)&address, &len)) return 2;
    if (pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 2;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &server}, ready;
    if (epoll_ctl(many, EPOLL_CTL_ADD, server, &event)) return 2;
    pthread_create(&thread, NULL, call, NULL);
    if (epoll_wait(many, &ready, 1, -1) != 1 || ready.data.ptr != &server) return 4;
    int called = accept(server, NULL, NULL);
    if (recvfrom(called, text, sizeof text, 0, NULL, NULL) != 6) return 5;
    say(text);
    if (sendto(called, "world\n", 6, 0, NULL, 0) != 6) return 6;
    if (!hear_again(called)) return 9;
    if (read(pipes[0], text, 5) != 5) return 7;
    say("by pipe\n");
    if (recv(pair[0], text, 5, 0) != 5) return 8;
    say("by pair\n");
    pthread_join(thread, &wrong);
    if (wrong) say(wrong);
    return 0;
}
