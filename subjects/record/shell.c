// Starts other programs that Norn knows nothing of: by system and by popen.
// Events: writes of 1 and 2 to `step`; only one process.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

static int step;

int main(void) {
    char line[20] = "";
    step = 1;
    printf("%d\n", WEXITSTATUS(system("exit 3")));
    FILE *pipe = popen("echo hello", "r");
    if (pipe == NULL || fgets(line, sizeof line, pipe) == NULL) return 1;
    pclose(pipe);
    step = 2;
    printf("%s", line);
    return 0;
}
