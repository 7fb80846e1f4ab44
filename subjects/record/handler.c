// A handler that touches memory interrupts a loop that does, as often as it can.
// Events: the writes to `steps` of the thread itself are 1 to 20,000; the handler's to `hits` are 1, 2,
// 3, …, each between the begin and the end of a handler of SIGUSR1 (10).
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static volatile int hits, finished;
static int steps;
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

static void handle(int signal) {
    (void)signal;
    hits++;
}

int main(void) {
    pthread_t thread;
    first = pthread_self();
    struct sigaction action = { .sa_handler = handle };
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, shoot, NULL);
    await_first();
    for (int left = 20000; left > 0; left--) {
        steps++;
        dawdle();
    }
    finished = 1;
    pthread_join(thread, NULL);
    printf("%d %d\n", steps, hits > 0);
    return 0;
}
