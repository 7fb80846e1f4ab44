// A daemon that works until it is asked to end: one thread waits for the signal, which comes from outside.
// Another one waits for the signal of a timer, which the program itself sets.
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static sigset_t ends, beats;

static void *work(void *argument) {
    int signal = 0;
    alarm(1);
    sigwait(&beats, &signal);
    return argument;
}

int main(void) {
    pthread_t worker;
    int signal = 0;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigemptyset(&beats);
    sigaddset(&beats, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    pthread_sigmask(SIG_BLOCK, &beats, NULL);
    pthread_create(&worker, NULL, work, NULL);
    sigwait(&ends, &signal);
    pthread_join(worker, NULL);
    return 0;
}
