// A child that outlives its parent by the time of a pipe: the parent ends first, the child reads the
// end of the pipe and then writes 1 to 1000 to `count`.
// Events: process 1 has all its 1000 writes, and `norn record` ended only after it.
#include <stdio.h>
#include <unistd.h>

static volatile int count;

int main(void) {
    int end[2];
    if (pipe(end) != 0) return 1;
    if (fork() == 0) {
        char byte;
        close(end[1]);
        if (read(end[0], &byte, 1) != 0) _exit(2);
        for (int i = 1; i <= 1000; i++) count = i;
        _exit(0);
    }
    puts("parent");
    return 0;
}
