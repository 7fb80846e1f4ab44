// Main creates a process. In some runs that takes longer than a second, in which nothing is seen of
// main, though it does not sleep: the kernel is at it. The other thread looks who was first. Main does
// not wait for the child: a parent goes on just before its child can be waited for, and to wait for
// another process depends on more than the schedule.
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

static int first;

static void *look(void *unused) {
    if (first == 0) first = 2;
    return unused;
}

/* A system call that nobody sees. */
__attribute__((no_sanitize("thread"), always_inline)) static inline long call(long number, long a) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(0)
                     : "rcx", "r11", "memory");
    return result;
}

/* The child may sleep before it ends, as the processor's clock has it; its parent cannot go on. */
__attribute__((no_sanitize("thread"))) static pid_t start(void) {
    static long time[2] = {1, 400000000};
    long late = __rdtsc() >> 16 & 1;
    pid_t child = vfork();
    if (child == 0) {
        if (late) call(SYS_nanosleep, (long)time);
        for (;;) call(SYS_exit_group, 0);
    }
    return child;
}

int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, look, NULL) != 0) return 2;
    start();
    if (first == 0) first = 1;
    pthread_join(thread, NULL);
    printf("%d\n", first);
    return 0;
}
