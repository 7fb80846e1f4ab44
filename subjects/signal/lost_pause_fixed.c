// The twin of lost_pause.c: a worker checks whether it may begin, and waits for a signal if not.
// The signal is blocked until the wait has begun.
// Finds: nothing harmful
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t may_begin;

static void on_signal(int signal) {
    (void)signal;
    may_begin = 1;
}

static void *work(void *argument) {
    sigset_t none;
    sigemptyset(&none);
    while (!may_begin) sigsuspend(&none);
    return argument;
}

int main(void) {
    struct sigaction action = { .sa_handler = on_signal };
    sigaction(SIGUSR1, &action, NULL);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    usleep(10000);
    pthread_kill(worker, SIGUSR1);
    pthread_join(worker, NULL);
    return 0;
}
