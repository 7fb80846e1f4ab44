// Functions of the C library, called directly, by address, and from a function of the program.
// Events, if `atoi`, `getuid`, `lfind` and `setjmp` are named: their calls, and the returns of all
// but `setjmp`.
#include <search.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int shared;

static int compare(const void *a, const void *b) {
    shared++;
    return *(const int *)a - *(const int *)b;
}

int main(int count, char **arguments) {
    int numbers[] = {3, 1, 2};
    int (*volatile convert)(const char *) = atoi;
    jmp_buf here;
    printf("%d\n", atoi(count > 1 ? arguments[1] : "17"));
    printf("%d\n", convert("42"));
    printf("%d\n", getuid() == geteuid());
    size_t length = 3;
    int *found = lfind(&numbers[2], numbers, &length, sizeof *numbers, compare);
    if (setjmp(here) == 0)
        longjmp(here, 1);
    printf("%d\n", found == &numbers[2]);
    return 0;
}
