// More children than a run has room for, one after another. Of the last two, which are not
// recorded, one ends as a thread does, and one has a child of its own.
// Events of process 0: 1100 forks, of which the last have no process to name; of each child that
// is recorded: its number, written to `cell`.
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT 1100

static int cell;

static int wait_for(pid_t child) {
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static void child(int number) {
    cell = number;
    if (number == COUNT - 1) pthread_exit(NULL);
    if (number == COUNT) {
        pid_t grandchild = fork();
        if (grandchild == 0) _exit(7);
        _exit(wait_for(grandchild));
    }
    _exit(cell % 100);
}

int main(void) {
    int sum = 0;
    for (int i = 1; i <= COUNT; i++) {
        pid_t pid = fork();
        if (pid == 0) child(i);
        sum += wait_for(pid);
    }
    printf("%d\n", sum);
    return 0;
}
