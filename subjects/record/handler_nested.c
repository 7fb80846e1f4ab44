// A handler is interrupted by another one, and both, and the thread they interrupt, do atomic
// operations on the same variable. Nobody may wait for a lock that the thread itself holds.
// Events: the additions to `total`; as many handlers of signal 10 as of signal 12.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>

static int total, handled, done;
static pthread_t first;

static void inner(int signal) {
    (void)signal;
    __atomic_fetch_add(&total, 1, __ATOMIC_SEQ_CST);
}

static void outer(int signal) {
    (void)signal;
    raise(SIGUSR2);
    __atomic_fetch_add(&handled, 1, __ATOMIC_SEQ_CST);
}

static void *shoot(void *unused) {
    for (int i = 0; i < 1000; i++) {
        pthread_kill(first, SIGUSR1);
        while (__atomic_load_n(&handled, __ATOMIC_SEQ_CST) <= i) sched_yield();
    }
    __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
    return unused;
}

int main(void) {
    pthread_t thread;
    long own = 0;
    first = pthread_self();
    signal(SIGUSR1, outer);
    signal(SIGUSR2, inner);
    pthread_create(&thread, NULL, shoot, NULL);
    while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST)) {
        __atomic_fetch_add(&total, 1, __ATOMIC_SEQ_CST);
        own++;
    }
    pthread_join(thread, NULL);
    printf("%d %ld\n", handled, total - own);
    return 0;
}
