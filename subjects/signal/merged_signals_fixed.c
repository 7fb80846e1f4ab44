// The twin of merged_signals.c: a consumer waits for one signal for each item of two producers.
// Real-time signals are queued: none of them is dropped.
// Finds: nothing harmful
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
    sigqueue(getpid(), SIGRTMIN, (union sigval){ 0 });
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
    sigaddset(&signals, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    pthread_create(&consumer, NULL, consume, NULL);
    for (int i = 0; i < PRODUCERS; i++) {
        pthread_create(&producers[i], NULL, produce, &pauses[i]);
    }
    for (int i = 0; i < PRODUCERS; i++) pthread_join(producers[i], NULL);
    pthread_join(consumer, NULL);
    return 0;
}
