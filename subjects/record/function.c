// Functions that are called in the usual ways and left in unusual ones.
// Events, if all of them are named: calls with their arguments and returns with their results, in
// the order of the nesting; a function that is left by a jump or by the end of its thread has none.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEEN __attribute__((noinline))

static int shared;
static jmp_buf out;

SEEN int add(int a, int b) {
    shared += a;
    return a + b;
}

// With optimisation this is a jump to `add`.
SEEN int tail(int a) { return add(a + 1, 2); }

SEEN int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1) + shared * 0; }

SEEN void jumps(int n) {
    shared++;
    if (n)
        longjmp(out, n);
}

SEEN void around(int n) {
    jumps(n);
    shared++;
}

SEEN long six(int a, int *b, char c, long d, unsigned e, short f) {
    return a + *b + c + d + e + f + shared * 0;
}

SEEN double half(double x, int n) { return x / 2 + n + shared * 0; }

static SEEN long inner(int unused, long used, int gone) {
    (void)unused;
    (void)gone;
    shared++;
    return used * 2;
}

SEEN void leaves(int n) {
    shared++;
    if (n)
        pthread_exit(NULL);
}

SEEN void waits(int n) {
    for (;;)
        sleep(n);
}

SEEN int handled(int n) {
    shared++;
    return n;
}

static void handler(int signal) { handled(signal); }

static void *leave(void *argument) {
    leaves(1);
    return argument;
}

static void *wait_long(void *argument) {
    waits(1000);
    return argument;
}

int main(void) {
    int five = 5;
    pthread_t thread;
    printf("%d\n", add(1, 2));
    printf("%d\n", tail(3));
    printf("%d\n", factorial(3));
    if (!setjmp(out))
        around(7);
    printf("%ld\n", six(-1, &five, 'a', 1L << 40, 7, 9));
    printf("%.1f\n", half(5, 1));
    printf("%ld\n", inner(1, 21, 2));
    pthread_create(&thread, NULL, leave, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, wait_long, NULL);
    usleep(50000);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(add(4, 5));
    int status;
    waitpid(child, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
    return 0;
}
