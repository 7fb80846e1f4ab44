// A worker checks whether it may begin, and waits for a signal if not. The handler of the signal says so.
// Bug: the signal can come between the check and the wait. Then nothing ends the wait.
// Consequence: deadlock
// The twin is lost_pause_fixed.c.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t may_begin;

static void on_signal(int signal) {
    (void)signal;
    may_begin = 1;
}

static void *work(void *argument) {
    while (!may_begin) pause();
    return argument;
}

int main(void) {
    struct sigaction action = { .sa_handler = on_signal };
    sigaction(SIGUSR1, &action, NULL);
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    usleep(10000);
    pthread_kill(worker, SIGUSR1);
    pthread_join(worker, NULL);
    return 0;
}
