// The twin of timer_to_thread.c: a timer sends a signal to a worker, whose handler adds to a total.
// The first thread adds when the worker has ended.
// Finds: nothing harmful
#undef NDEBUG
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static int total;
static pthread_t worker;

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void on_timer(int signal) {
    (void)signal;
    assert(pthread_equal(pthread_self(), worker));
    add();
}

static void *work(void *argument) {
    timer_t timer;
    sigset_t none;
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
    struct itimerspec soon = { .it_value.tv_nsec = 1000000 };
    event.sigev_notify_thread_id = gettid();
    sigemptyset(&none);
    assert(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    assert(timer_settime(timer, 0, &soon, NULL) == 0);
    sigsuspend(&none);
    return argument;
}

int main(void) {
    sigset_t beats;
    struct sigaction action = { .sa_handler = on_timer };
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&beats);
    sigaddset(&beats, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &beats, NULL);
    pthread_create(&worker, NULL, work, NULL);
    pthread_join(worker, NULL);
    add();
    assert(total == 2);
    return 0;
}
