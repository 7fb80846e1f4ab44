// Waits for the signals of timers: of `ualarm`, and of `timer_create` to the process and to a thread.
#define _GNU_SOURCE
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static volatile sig_atomic_t alarms, value;
static __thread volatile sig_atomic_t own_alarms;

static void count(int signal) {
    (void)signal;
    alarms++;
}

static void count_with_value(int signal, siginfo_t *information, void *context) {
    (void)signal;
    (void)context;
    value = information->si_value.sival_int;
    alarms++;
    own_alarms++;
}

static timer_t start(clockid_t clock, struct sigevent *event, long interval) {
    timer_t timer;
    struct itimerspec time = {{0, interval}, {0, 1000000}};
    assert(timer_create(clock, event, &timer) == 0);
    assert(timer_settime(timer, 0, &time, NULL) == 0);
    return timer;
}

static void *work(void *argument) {
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_notify_thread_id = gettid();
    event.sigev_signo = SIGUSR2;
    event.sigev_value.sival_int = 9;
    timer_t timer = start(CLOCK_MONOTONIC, &event, 0);
    while (own_alarms == 0) usleep(1000);
    timer_delete(timer);
    return argument;
}

int main(void) {
    struct sigaction action;
    struct sigevent event;
    pthread_t worker;
    memset(&action, 0, sizeof action);
    memset(&event, 0, sizeof event);
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = count_with_value;
    signal(SIGALRM, count);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);

    ualarm(2000, 1000);
    while (alarms < 3) pause();
    ualarm(0, 0);

    alarms = 0;
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    event.sigev_value.sival_int = 5;
    timer_t timer = start(CLOCK_REALTIME, &event, 1000000);
    while (alarms < 2) pause();
    timer_delete(timer);
    printf("to the process: %d\n", (int)value);

    pthread_create(&worker, NULL, work, NULL);
    pthread_join(worker, NULL);
    printf("to a thread: %d\n", (int)value);
    return 0;
}
