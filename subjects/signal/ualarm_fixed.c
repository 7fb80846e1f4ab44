// The twin of ualarm.c: the handler of a timer that `ualarm` sets and a worker count.
// The timer is set when the worker has ended.
// Finds: nothing harmful
#undef NDEBUG
#define _DEFAULT_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int count;

static void on_alarm(int signal) {
    (void)signal;
    count++;
}

static void *work(void *argument) {
    count++;
    return argument;
}

int main(void) {
    pthread_t worker;
    sigset_t alarms, none;
    struct sigaction action = { .sa_handler = on_alarm };
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&none);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    pthread_create(&worker, NULL, work, NULL);
    pthread_join(worker, NULL);
    ualarm(1000, 0);
    sigsuspend(&none);
    assert(count == 2);
    return 0;
}
