// A timer adds to a total, in a thread of its own.
// Bug: the first thread adds after it has set the timer, so that one of the two may be lost.
// Finds: race on total; assertion
// The twin is timer_thread_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

static int total;
static sem_t done;

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void expired(union sigval value) {
    (void)value;
    add();
    sem_post(&done);
}

int main(void) {
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = expired };
    struct itimerspec soon = { .it_value.tv_nsec = 1000000 };
    sem_init(&done, 0, 0);
    assert(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    assert(timer_settime(timer, 0, &soon, NULL) == 0);
    add();
    sem_wait(&done);
    timer_delete(timer);
    assert(total == 2);
    return 0;
}
