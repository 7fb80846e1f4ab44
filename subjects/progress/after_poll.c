// Two threads wait for an event counter with a timeout, and note the result.
// Bug: both note it in the same variable.
// Finds: race on note; none
// The twin is after_poll_fixed.c.
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>

static int counter;
static int note;

static void *wait(void *argument) {
    struct pollfd file = { .fd = counter, .events = POLLIN };
    int result = poll(&file, 1, 20);
    note = result;
    return argument;
}

int main(void) {
    pthread_t threads[2];
    counter = eventfd(0, 0);
    for (intptr_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, wait, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return note < 0;
}
