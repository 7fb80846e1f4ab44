// The twin of event_counter.c: a worker adds to a total as soon as an event counter is not zero.
// The first thread adds before that: the counter is raised before it is read.
// Finds: nothing harmful
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
    add();
    uint64_t one = 1;
    assert(write(counter, &one, sizeof one) == sizeof one);
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
