// A thread writes to a small block; the other frees it and all above it, and libc gives the top of
// the heap back to the kernel. They talk by pipes, which leave no events.
// Events: the write of 1 by T0.1, and its write of 2 to `after`. The program must not crash.
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCKS 400

static int there[2], back[2];
static int after;
static int *last;

__attribute__((no_sanitize("thread"))) static void hand_over(void) {
    char byte = 0;
    if (write(there[1], &byte, 1) < 0 || read(back[0], &byte, 1) < 0) _exit(9);
}

static void *write_last(void *unused) {
    hand_over();
    *last = 1;
    hand_over();
    after = 2;
    return unused;
}

int main(void) {
    pthread_t thread;
    void *block[BLOCKS];
    char byte;
    if (pipe(there) != 0 || pipe(back) != 0) return 1;
    pthread_create(&thread, NULL, write_last, NULL);
    if (read(there[0], &byte, 1) != 1) return 2;
    for (int i = 0; i < BLOCKS; i++) block[i] = malloc(4000);
    last = block[BLOCKS - 1];
    if (write(back[1], &byte, 1) != 1 || read(there[0], &byte, 1) != 1) return 2;
    for (int i = 0; i < BLOCKS; i++) free(block[i]);
    malloc_trim(0);
    if (write(back[1], &byte, 1) != 1) return 3;
    pthread_join(thread, NULL);
    printf("%d\n", after);
    return 0;
}
