// The handler of the signal that a timer sends adds to a total, and so does a worker.
// Bug: nothing orders the two, so that one addition may be lost.
// Finds: race on total; assertion
// The twin is timer_signal_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

static int total;

static void add(int amount) {
    int seen = total;
    total = seen + amount;
}

static void on_timer(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)context;
    add(info->si_value.sival_int);
}

static void *work(void *argument) {
    add(1);
    return argument;
}

int main(void) {
    timer_t timer;
    pthread_t worker;
    sigset_t beats, none;
    struct sigaction action = { .sa_sigaction = on_timer, .sa_flags = SA_SIGINFO };
    struct sigevent event = {
        .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 2
    };
    struct itimerspec soon = { .it_value.tv_nsec = 1000000 };
    sigemptyset(&none);
    sigemptyset(&beats);
    sigaddset(&beats, SIGRTMIN);
    sigaction(SIGRTMIN, &action, NULL);
    pthread_sigmask(SIG_BLOCK, &beats, NULL);
    assert(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    pthread_create(&worker, NULL, work, NULL);
    assert(timer_settime(timer, 0, &soon, NULL) == 0);
    sigsuspend(&none);
    pthread_join(worker, NULL);
    assert(total == 3);
    return 0;
}
