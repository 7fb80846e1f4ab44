// A handler is interrupted by another one, and both, and the thread they interrupt, do atomic
// operations on the same variable. Nobody may wait for a lock that the thread itself holds.
// Events: the additions to `total`; as many handlers of signal 10 as of signal 12.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static int total, inner_hits;
static volatile int hits, finished;
static pthread_t first;

// Takes a moment and leaves no events: there must be time for signals.
__attribute__((no_sanitize("thread"))) static void dawdle(void) {
    for (int i = 0; i < 20; i++) __builtin_ia32_pause();
}

// Sends a signal when the last one was handled; leaves no events.
__attribute__((no_sanitize("thread"))) static void *shoot(void *unused) {
    for (int sent = 0; !finished; sent++) {
        while (hits < sent && !finished) dawdle();
        if (!finished) pthread_kill(first, SIGUSR1);
    }
    return unused;
}

__attribute__((no_sanitize("thread"))) static void await_first(void) {
    while (hits == 0) dawdle();
}

static void inner(int signal) {
    (void)signal;
    __atomic_fetch_add(&total, 1, __ATOMIC_SEQ_CST);
    inner_hits++;
}

static void outer(int signal) {
    (void)signal;
    raise(SIGUSR2);
    hits++;
}

int main(void) {
    pthread_t thread;
    first = pthread_self();
    signal(SIGUSR1, outer);
    signal(SIGUSR2, inner);
    pthread_create(&thread, NULL, shoot, NULL);
    await_first();
    for (int left = 60000; left > 0; left--) {
        __atomic_fetch_add(&total, 1, __ATOMIC_SEQ_CST);
        if (left % 500 == 0) dawdle();
    }
    finished = 1;
    pthread_join(thread, NULL);
    printf("%d\n", total - inner_hits);
    return 0;
}
