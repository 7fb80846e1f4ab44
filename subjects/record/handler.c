// A handler that touches memory interrupts a loop that does, 400 times.
// Events: the writes to `steps` of the thread itself are 1, 2, 3, …; the handler's to `hits` are 1
// to 400, each between the begin and the end of a handler of SIGUSR1 (10).
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#define ROUNDS 400

static volatile int hits;
static int steps;
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
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < 200 && before(round); i++) steps++;
        while (before(round)) {}
    }
    pthread_join(thread, NULL);
    printf("%d\n", hits);
    return 0;
}
