// Prints its environment, its arguments and its folder.
// Events: none that matter. The output must be the same with and without a recorder, but for the
// variable NORN_ARENA.
#include <stdio.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argument) {
    char folder[4096];
    for (int i = 1; i < argc; i++) printf("argument %s\n", argument[i]);
    for (char **entry = environ; *entry != NULL; entry++) printf("%s\n", *entry);
    printf("%s\n", getcwd(folder, sizeof folder));
    return 0;
}
