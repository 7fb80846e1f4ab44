// A thread with the smallest stack there is, and a handler on the smallest stack for handlers.
// Events of T0.1: acquire and release of m, an addition to `total`, a handler of signal 10.
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int total, handled;

static void handle(int signal) {
    (void)signal;
    handled++;
}

static void *run(void *unused) {
    stack_t small = { .ss_sp = malloc((size_t)MINSIGSTKSZ), .ss_size = (size_t)MINSIGSTKSZ };
    sigaltstack(&small, NULL);
    pthread_mutex_lock(&m);
    __atomic_fetch_add(&total, 1, __ATOMIC_SEQ_CST);
    free(malloc(100));
    pthread_mutex_unlock(&m);
    raise(SIGUSR1);
    small.ss_flags = SS_DISABLE;
    sigaltstack(&small, NULL);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_attr_t smallest;
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
    sigaction(SIGUSR1, &action, NULL);
    pthread_attr_init(&smallest);
    pthread_attr_setstacksize(&smallest, (size_t)PTHREAD_STACK_MIN);
    pthread_create(&thread, &smallest, run, NULL);
    pthread_join(thread, NULL);
    printf("%d %d\n", total, handled);
    return 0;
}
