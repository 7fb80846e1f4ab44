// Waits for signals that others send, and says in a file which came, until one asks it to end. With
// `later`, it is a child of the program that does so, while the program itself has ended.
// Events: none that matter.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(int file, const char *what, int signal, int value) {
    char line[64];
    int length = snprintf(line, sizeof line, "%s %d %d\n", what, signal, value);
    if (write(file, line, (size_t)length) != length) abort();
}

int main(int argc, char **argument) {
    sigset_t all;
    siginfo_t info;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    int file = open("came", O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (argc > 1 && strcmp(argument[1], "later") == 0) {
        pid_t parent = getpid();
        if (fork() != 0) return 5;
        while (getppid() == parent) usleep(1000);
    }
    say(file, "ready", 0, 0);
    do {
        if (sigwaitinfo(&all, &info) < 0) return 2;
        int queued = info.si_code == SI_QUEUE;
        say(file, "came", info.si_signo, queued ? info.si_value.sival_int : 0);
    } while (info.si_signo != SIGTERM);
    return 3;
}
