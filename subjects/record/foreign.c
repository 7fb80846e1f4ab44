// A thread that libc makes by itself, for a timer.
// Events: the write of 1 to `fired` by a thread that nobody forked, before its post of `done`; T0 waits
// for that.
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

static sem_t done;
static int fired;

static void fire(union sigval unused) {
    (void)unused;
    fired = 1;
    sem_post(&done);
}

int main(void) {
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = fire };
    struct itimerspec soon = { .it_value = { 0, 1000000 } };
    sem_init(&done, 0, 0);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &soon, NULL);
    sem_wait(&done);
    printf("%d\n", fired);
    return 0;
}
