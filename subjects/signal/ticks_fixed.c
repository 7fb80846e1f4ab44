// The twin of ticks.c: the handler of an interval timer and a worker count.
// The counter is atomic.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static _Atomic int ticks;
static int seen_ticks;

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
