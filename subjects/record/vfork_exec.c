// vfork, then this program again with an argument; the same by posix_spawn.
// Events of process 0: writes of 1, 2 and 3 to `step`. Two more processes: each writes 10 to `step`
// and exits with 5.
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int step;

int main(int count, char **argument) {
    int status;
    if (count > 1) {
        step = 10;
        return 5;
    }
    char *again[] = { argument[0], "child", NULL };
    step = 1;
    pid_t child = vfork();
    if (child == 0) {
        execv(argument[0], again);
        _exit(127);
    }
    waitpid(child, &status, 0);
    step = 2;
    printf("%d\n", WEXITSTATUS(status));
    if (posix_spawn(&child, argument[0], NULL, NULL, again, environ) != 0) return 1;
    waitpid(child, &status, 0);
    step = 3;
    printf("%d\n", WEXITSTATUS(status));
    return 0;
}
