// vfork, then a program that is not there: the child ends with _exit(127) in its parent's memory.
// Events of process 0: a write of 1 to `step`, the exec that failed, a write of 2. The run ends
// with status 0, not 127.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int step;

int main(void) {
    int status;
    step = 1;
    pid_t child = vfork();
    if (child == 0) {
        execl("/nonexistent/program", "program", (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    step = 2;
    printf("%d\n", WEXITSTATUS(status));
    return 0;
}
