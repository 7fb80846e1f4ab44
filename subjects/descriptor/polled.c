// A watcher polls an event counter and reads it; the first thread closes the counter.
// Bug: the watcher says that it is ready before it has read.
// Finds: descriptor on descriptor; misuse
// The twin is polled_fixed.c.
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int counter;
static atomic_int ready;

static void *watch(void *unused) {
    struct pollfd file = {.fd = counter, .events = POLLIN};
    uint64_t value = 0;
    if (poll(&file, 1, -1) == 1) atomic_store(&ready, 1);
    if (read(counter, &value, sizeof value) < 0) perror("read");
    return unused;
}

int main(void) {
    pthread_t watcher;
    uint64_t one = 1;
    counter = eventfd(0, 0);
    if (pthread_create(&watcher, NULL, watch, NULL) != 0) return 2;
    if (write(counter, &one, sizeof one) < 0) return 2;
    while (!atomic_load(&ready)) {
    }
    close(counter);
    pthread_join(watcher, NULL);
    puts("seen");
    return 0;
}
