// The handler of an interval timer and a worker count beats.
// Bug: `beats++` is a read and a write; an increment between the two is lost.
// Consequence: assertion, the total is 1 instead of 2.
// The twin, timer_beats_fixed.c, never fails.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static int beats;

static void on_tick(int signal) {
    (void)signal;
    beats++; /* A1 */
}

static void *work(void *unused) {
    beats++; /* B1 */
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
