// The twin of stolen_signal.c: a thread waits for the signal that ends the program.
// The signal stays blocked in all threads, so that only that wait receives it.
// Finds: nothing harmful
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void on_signal(int signal) {
    (void)signal;
    handled = 1;
}

static void *watch(void *signals) {
    int signal = 0;
    sigwait(signals, &signal);
    return NULL;
}

static void *finish(void *argument) {
    kill(getpid(), SIGUSR2);
    return argument;
}

int main(void) {
    pthread_t watcher, finisher;
    sigset_t signals;
    struct sigaction action = { .sa_handler = on_signal };
    sigaction(SIGUSR2, &action, NULL);
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    pthread_create(&watcher, NULL, watch, &signals);
    pthread_create(&finisher, NULL, finish, NULL);
    pthread_join(finisher, NULL);
    pthread_join(watcher, NULL);
    return 0;
}
