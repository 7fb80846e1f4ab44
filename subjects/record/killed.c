// Two threads count in cells of their own for ever; the last numbers are kept in the file that is
// the first argument: shared memory. Somebody kills the process.
// Events: of each thread all writes of its cell, the last one equal to the number in the file, or one
// before or after.
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int one, two;
static volatile int *kept;

// Takes some time and leaves no events: the trace is to grow slowly.
__attribute__((no_sanitize("thread"))) static void dawdle(void) {
    for (int i = 0; i < 100; i++) __builtin_ia32_pause();
}

static void *count_one(void *unused) {
    for (;;) {
        one = one + 1;
        kept[0] = one;
        dawdle();
    }
    return unused;
}

static void *count_two(void *unused) {
    for (;;) {
        two = two + 1;
        kept[1] = two;
        dawdle();
    }
    return unused;
}

int main(int argc, char **argument) {
    pthread_t thread[2];
    if (argc < 2) return 2;
    int file = open(argument[1], O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096) != 0) return 2;
    kept = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ((volatile pid_t *)kept)[2] = getpid();
    pthread_create(&thread[0], NULL, count_one, NULL);
    pthread_create(&thread[1], NULL, count_two, NULL);
    pthread_join(thread[0], NULL);
    return 0;
}
