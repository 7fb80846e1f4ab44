// A worker adds to a total as soon as `epoll_wait` finds an event counter ready, which it does
// not read.
// Bug: the first thread adds after it has let the worker go on, so that one of the two may be
// lost.
// Finds: race on total; assertion
// The twin is epoll_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

static int total;
static int counter, watcher;

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    struct epoll_event ready;
    assert(epoll_wait(watcher, &ready, 1, -1) == 1 && ready.data.u64 == 7);
    add();
    return argument;
}

int main(void) {
    pthread_t worker;
    struct epoll_event wanted = { .events = EPOLLIN, .data.u64 = 7 };
    counter = eventfd(0, 0);
    watcher = epoll_create1(0);
    assert(epoll_ctl(watcher, EPOLL_CTL_ADD, counter, &wanted) == 0);
    pthread_create(&worker, NULL, work, NULL);
    assert(eventfd_write(counter, 1) == 0);
    add();
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
