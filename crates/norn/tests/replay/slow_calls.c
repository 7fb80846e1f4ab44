// slow_calls PROGRAM COMMAND...: runs a command in which system calls of one program are slow: one
// of eight takes up to 150 ms. The calls wait in the kernel until a supervisor process continues them.
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 256, ONE_OF = 8, LONGEST = 150 };

static const int slow[] = {SYS_futex,  SYS_exit,    SYS_mmap,   SYS_munmap,        SYS_mprotect,
                           SYS_clone3, SYS_madvise, SYS_openat, SYS_set_robust_list};
enum { SLOW = sizeof slow / sizeof *slow };

static struct {
    unsigned long long id;
    long until;
} held[MOST];
static int count;

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static int is_program(int thread, const char *program) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/%d/exe", thread);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    const char *name = strrchr(path, '/');
    return name && strcmp(name + 1, program) == 0;
}

static void hold(int calls, const char *program) {
    struct seccomp_notif call;
    memset(&call, 0, sizeof call);
    if (ioctl(calls, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return;
    int late = count < MOST - 1 && rand() % ONE_OF == 0 && is_program(call.pid, program);
    held[count].id = call.id;
    held[count++].until = late ? now() + rand() % LONGEST : 0;
}

/* Lets all go whose time has come. Returns how long it is until the next, or -1. */
static int let_go(int calls) {
    long time = now(), next = -1;
    for (int i = 0; i < count;) {
        if (held[i].until > time) {
            if (next < 0 || held[i].until - time < next) next = held[i].until - time;
            i++;
            continue;
        }
        struct seccomp_notif_resp answer = {.id = held[i].id};
        answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ioctl(calls, SECCOMP_IOCTL_NOTIF_SEND, &answer);
        held[i] = held[--count];
    }
    return (int)next;
}

static void watch(int calls, const char *program) {
    for (;;) {
        struct pollfd polled = {calls, POLLIN, 0};
        int ready = poll(&polled, 1, let_go(calls));
        if (ready > 0 && polled.revents & POLLIN) {
            hold(calls, program);
        } else if (ready > 0) {
            _exit(0);
        }
    }
}

/* From now on, this process and its children wait in slow calls for who has the result. */
static int catch(void) {
    struct sock_filter filter[2 * SLOW + 2];
    int at = 0;
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
    for (int i = 0; i < SLOW; i++) {
        filter[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, slow[i], 0, 1);
        filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    }
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {at, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

union Parcel {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static int pass(int socket, int *file, int give) {
    char byte = 0;
    union Parcel parcel = {.head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    struct iovec text = {&byte, 1};
    struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
    message.msg_control = &parcel;
    message.msg_controllen = sizeof parcel;
    if (give) memcpy(CMSG_DATA(&parcel.head), file, sizeof *file);
    ssize_t passed = give ? sendmsg(socket, &message, 0) : recvmsg(socket, &message, 0);
    if (!give) memcpy(file, CMSG_DATA(&parcel.head), sizeof *file);
    return passed == 1;
}

int main(int number, char **words) {
    int pair[2], calls;
    if (number < 3 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return 90;
    pid_t watcher = fork();
    if (watcher == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int i = 0; i < 3; i++) close(i);
        if (!pass(pair[1], &calls, 0)) _exit(91);
        srand((unsigned)getpid());
        watch(calls, words[1]);
    }
    calls = catch();
    if (calls < 0 || !pass(pair[0], &calls, 1)) {
        perror("slow_calls");
        return 92;
    }
    close(calls);
    execvp(words[2], words + 2);
    return 93;
}
