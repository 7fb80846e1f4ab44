// A handler is interrupted by another one, and both, and the thread they interrupt, do atomic
// operations on the same variable. Nobody may wait for a lock that the thread itself holds.
// Events: the additions to `total`; as many handlers of signal 10 as of signal 12.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#define ROUNDS 400

static int total, inner_hits;
static volatile int hits;
static pthread_t first;

// Leaves no events. Sends a signal when the last one was handled, and some time has passed, so that
// it comes anywhere in what the other thread does.
__attribute__((no_sanitize("thread"))) static void *shoot(void *unused) {
    for (int sent = 0; sent < ROUNDS; sent++) {
        while (hits < sent) __builtin_ia32_pause();
        for (int i = 0; i < sent % 64; i++) __builtin_ia32_pause();
        pthread_kill(first, SIGUSR1);
    }
    return unused;
}

// Leaves no events. Whether the handler has not yet run so often.
__attribute__((no_sanitize("thread"))) static int before(int round) {
    return hits < round;
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
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < 200 && before(round); i++) __atomic_fetch_add(&total, 1, __ATOMIC_SEQ_CST);
        while (before(round)) {}
    }
    pthread_join(thread, NULL);
    printf("%d %d\n", hits, inner_hits);
    return 0;
}
