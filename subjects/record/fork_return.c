// Children that end by returning from main, by exit, and by a signal.
// Events: process 1 ended with status 9, process 2 with 10; of process 3 nothing is known but that it
// is gone.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int wait_for(pid_t child) {
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int main(void) {
    pid_t child = fork();
    if (child == 0) return 9;
    int sum = wait_for(child);
    child = fork();
    if (child == 0) exit(10);
    sum += wait_for(child);
    child = fork();
    if (child == 0) {
        raise(SIGKILL);
        _exit(1);
    }
    sum += wait_for(child);
    printf("%d\n", sum);
    return 0;
}
