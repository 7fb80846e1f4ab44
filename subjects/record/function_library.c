// Functions of the C library, called directly, by address, and from a function of the program.
// Events, if `atoi`, `getpid`, `qsort` and `setjmp` are named: their calls, and the returns of all
// but `setjmp`.
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
    printf("%d\n", getpid() > 0);
    qsort(numbers, 3, sizeof *numbers, compare);
    if (setjmp(here) == 0)
        longjmp(here, 1);
    printf("%d %d %d\n", numbers[0], numbers[1], numbers[2]);
    return 0;
}
