// The twin of timer_beats.c: the handler of an interval timer and a worker count beats.
// The counter is atomic.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static _Atomic int beats;

static void on_tick(int signal) {
    (void)signal;
    beats++;
}

static void *work(void *unused) {
    beats++;
    return unused;
}

int main(void) {
    pthread_t worker;
    struct sigaction action = {.sa_handler = on_tick};
    struct itimerval once = {.it_value.tv_usec = 1000};
    sigaction(SIGALRM, &action, NULL);
    if (pthread_create(&worker, NULL, work, NULL) != 0) return 2;
    setitimer(ITIMER_REAL, &once, NULL);
    pause();
    pthread_join(worker, NULL);
    int total = beats;
    printf("beats: %d\n", total);
    assert(total == 2);
    return 0;
}
