// The program becomes itself again, three times, by different functions.
// Events: four processes in the trace, each writes its number to `step`; all but the last end by
// becoming the next one, which ends with status 4.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;
static int step;

int main(int count, char **argument) {
    step = count > 1 ? atoi(argument[1]) : 0;
    printf("step %d\n", step);
    fflush(stdout);
    char next[2] = { (char)('1' + step), 0 };
    char *again[] = { argument[0], next, NULL };
    switch (step) {
    case 0: execv(argument[0], again); break;
    case 1: execl(argument[0], argument[0], next, (char *)NULL); break;
    case 2: execve(argument[0], again, environ); break;
    }
    return 4;
}
