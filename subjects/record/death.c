// Counts 1, 2, 3, … in `count` and dies at 1,000 in the way of its first argument. The second names
// a file in which the last number is kept as well: shared memory, so it survives every death.
// Events: all writes of `count`, the last one equal to the number in the file or the one before.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static volatile int count;
static volatile int *kept;
static int *volatile nowhere;

static int overflow(int depth) {
    volatile char frame[1024];
    frame[0] = (char)depth;
    return overflow(depth + 1) + frame[0];
}

static void die(const char *how) {
    if (strcmp(how, "exit") == 0) exit(3);
    if (strcmp(how, "_exit") == 0) _exit(4);
    if (strcmp(how, "_Exit") == 0) _Exit(5);
    if (strcmp(how, "quick_exit") == 0) quick_exit(6);
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "null") == 0) *nowhere = 1;
    if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
    if (strcmp(how, "term") == 0) raise(SIGTERM);
    if (strcmp(how, "trap") == 0) __builtin_trap();
    if (strcmp(how, "overflow") == 0) overflow(0);
}

int main(int argc, char **argument) {
    if (argc < 3) return 2;
    int file = open(argument[2], O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096) != 0) return 2;
    kept = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    struct rlimit small = { 256 << 10, 256 << 10 };
    setrlimit(RLIMIT_STACK, &small);
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    printf("begin\n");
    fflush(stdout);
    for (;;) {
        count = count + 1;
        *kept = count;
        if (count == 1000) die(argument[1]);
        if (count == 1000) return 8;
    }
}
