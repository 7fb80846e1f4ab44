// The twin of after_poll.c: two threads wait for an event counter with a timeout, and note the result.
// Each thread has a note of its own.
// Finds: nothing harmful
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>

static int counter;
static int notes[2];

static void *wait(void *argument) {
    struct pollfd file = { .fd = counter, .events = POLLIN };
    int result = poll(&file, 1, 20);
    notes[(intptr_t)argument] = result;
    return argument;
}

int main(void) {
    pthread_t threads[2];
    counter = eventfd(0, 0);
    for (intptr_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, wait, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return notes[0] + notes[1] < 0;
}
