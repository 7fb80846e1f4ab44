// A thread recovers from a stack overflow: its handler runs on a stack of its own, which lies above
// the thread's, and jumps back.
// Events: a handler of signal 11 begins and ends; the write of 9 to `after` is T0.1's own, with the
// stack of `note` and `run` alone.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

#define SIZE (256 << 10)

static sigjmp_buf back;
static volatile int caught;
static int after;
static char *area;

static void handle(int signal) {
    (void)signal;
    caught++;
    siglongjmp(back, 1);
}

// Writes where the stack of calls shows.
static void note(int value) {
    after = value;
}

static int overflow(int depth) {
    volatile char frame[1024];
    frame[0] = (char)depth;
    return depth < 0 ? 0 : overflow(depth + 1) + frame[0];
}

static void *run(void *unused) {
    stack_t alternate = { .ss_sp = area + SIZE, .ss_size = SIZE };
    sigaltstack(&alternate, NULL);
    if (sigsetjmp(back, 1) == 0) overflow(0);
    note(9);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_attr_t below;
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
    area = mmap(NULL, 2 * SIZE + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(area, 4096, PROT_NONE);
    sigaction(SIGSEGV, &action, NULL);
    pthread_attr_init(&below);
    pthread_attr_setstack(&below, area + 4096, SIZE - 4096);
    pthread_create(&thread, &below, run, NULL);
    pthread_join(thread, NULL);
    printf("%d %d\n", caught, after);
    return 0;
}
