// A worker counts a task as soon as `epoll_wait` finds an event counter ready.
// Bug: the first thread counts its own task after it has woken the worker.
// Consequence: assertion, the total is 1 instead of 2.
// The twin, epoll_tasks_fixed.c, never fails.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

static int counter, watcher;
static int tasks;

static void *work(void *unused) {
    struct epoll_event ready;
    if (epoll_wait(watcher, &ready, 1, -1) != 1) return unused;
    tasks++; /* B1 */
    return unused;
}

int main(void) {
    pthread_t worker;
    struct epoll_event wanted = {.events = EPOLLIN};
    counter = eventfd(0, 0);
    watcher = epoll_create1(0);
    if (epoll_ctl(watcher, EPOLL_CTL_ADD, counter, &wanted) != 0) return 2;
    if (pthread_create(&worker, NULL, work, NULL) != 0) return 2;
    if (eventfd_write(counter, 1) != 0) return 2;
    tasks++; /* A1 */
    pthread_join(worker, NULL);
    int total = tasks;
    printf("tasks: %d\n", total);
    assert(total == 2);
    return 0;
}
