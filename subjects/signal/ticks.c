// The handler of an interval timer and a worker count.
// Bug: the handler and the worker increment the same counter, so that an increment may be lost.
// Finds: race on ticks; assertion
// The twin is ticks_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static int ticks, seen_ticks;

static void on_tick(int signal) {
    (void)signal;
    ticks++;
}

static void *work(void *argument) {
    ticks++;
    return argument;
}

int main(void) {
    pthread_t worker;
    struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
    struct itimerval often = { .it_interval.tv_usec = 1000, .it_value.tv_usec = 1000 };
    struct itimerval never = { 0 };
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    pthread_create(&worker, NULL, work, NULL);
    pause();
    setitimer(ITIMER_REAL, &never, NULL);
    pthread_join(worker, NULL);
    seen_ticks = ticks;
    assert(seen_ticks >= 2);
    return 0;
}
