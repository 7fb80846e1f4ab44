// The twin of event_hang.c: a worker polls an event counter that another thread raises when it has work.
// The counter is raised in any case.
// Finds: nothing harmful
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

static int counter;
static int awake = 0;

static void *work(void *argument) {
    struct pollfd file = { .fd = counter, .events = POLLIN };
    poll(&file, 1, -1);
    return argument;
}

static void *request(void *argument) {
    eventfd_write(counter, 1);
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
