// A handler that touches memory interrupts a loop that does, 2,000 times.
// Events: the writes to `steps` of the thread itself are 1, 2, 3, … without a gap; the handler's to
// `hits` are 1 to 2,000, each between the begin and the end of the handler of SIGUSR1 (10).
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#define HITS 2000

static volatile int hits, seen;
static int steps;
static pthread_t first;

static void handle(int signal) {
    (void)signal;
    hits++;
    __atomic_store_n(&seen, 1, __ATOMIC_SEQ_CST);
}

static void *shoot(void *unused) {
    for (int i = 0; i < HITS; i++) {
        __atomic_store_n(&seen, 0, __ATOMIC_SEQ_CST);
        pthread_kill(first, SIGUSR1);
        while (!__atomic_load_n(&seen, __ATOMIC_SEQ_CST)) sched_yield();
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    first = pthread_self();
    struct sigaction action = { .sa_handler = handle };
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, shoot, NULL);
    while (hits < HITS) steps++;
    pthread_join(thread, NULL);
    printf("%d\n", hits);
    return 0;
}
