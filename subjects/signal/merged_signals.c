// Two producers announce an item each by a signal, and a consumer waits for one signal for each item.
// Bug: of a signal that is pending already, a second one is dropped, and the consumer waits in vain.
// Consequence: deadlock
// The twin is merged_signals_fixed.c.
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#define PRODUCERS 2
#define PAUSE 10000

static pthread_t consumer;
static sigset_t signals;

static void *produce(void *pause) {
    usleep(*(int *)pause);
    pthread_kill(consumer, SIGUSR1);
    return NULL;
}

static void *consume(void *argument) {
    int signal = 0;
    for (int i = 0; i < PRODUCERS; i++) sigwait(&signals, &signal);
    return argument;
}

int main(void) {
    pthread_t producers[PRODUCERS];
    int pauses[PRODUCERS] = { PAUSE, 5 * PAUSE };
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    pthread_create(&consumer, NULL, consume, NULL);
    for (int i = 0; i < PRODUCERS; i++) {
        pthread_create(&producers[i], NULL, produce, &pauses[i]);
    }
    for (int i = 0; i < PRODUCERS; i++) pthread_join(producers[i], NULL);
    pthread_join(consumer, NULL);
    return 0;
}
