// A worker polls an event counter that another thread raises when it has work.
// Bug: the worker marks itself as awake before it polls, and an awake worker is not woken.
// Finds: race on awake; deadlock
// The twin is event_hang_fixed.c.
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

static int counter;
static int awake = 0;

static void *work(void *argument) {
    struct pollfd file = { .fd = counter, .events = POLLIN };
    awake = 1;
    poll(&file, 1, -1);
    return argument;
}

static void *request(void *argument) {
    if (!awake) eventfd_write(counter, 1);
    return argument;
}

int main(void) {
    pthread_t threads[2];
    counter = eventfd(0, 0);
    pthread_create(&threads[0], NULL, request, NULL);
    pthread_create(&threads[1], NULL, work, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return awake > 1;
}
