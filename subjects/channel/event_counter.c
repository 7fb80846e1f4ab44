// A worker adds to a total as soon as an event counter is not zero.
// Bug: the first thread adds after it has let the worker go on, so that one of the two may be
// lost.
// Finds: race on total; assertion
// The twin is event_counter_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int total;
static int counter;

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    eventfd_t got;
    assert(eventfd_read(counter, &got) == 0 && got == 1);
    add();
    return argument;
}

int main(void) {
    pthread_t worker;
    counter = eventfd(0, 0);
    assert(counter >= 0);
    pthread_create(&worker, NULL, work, NULL);
    uint64_t one = 1;
    assert(write(counter, &one, sizeof one) == sizeof one);
    add();
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
