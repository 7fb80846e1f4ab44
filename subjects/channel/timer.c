// A worker adds to a total when a timer expires.
// Bug: the first thread adds after it has let the worker go on, so that one of the two may be
// lost.
// Finds: race on total; assertion
// The twin is timer_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static int total;
static int timer;

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    uint64_t got;
    assert(read(timer, &got, sizeof got) == sizeof got);
    add();
    return argument;
}

int main(void) {
    pthread_t worker;
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    assert(timer >= 0);
    pthread_create(&worker, NULL, work, NULL);
    struct itimerspec soon = { .it_value.tv_nsec = 1 };
    assert(timerfd_settime(timer, 0, &soon, NULL) == 0);
    add();
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
