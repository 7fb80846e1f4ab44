// Each of two threads shuts the end of a pipe if it is still open.
// Only the thread that changes the flag closes the end.
#include <pthread.h>
#include <stdio.h>
#include <stdatomic.h>
#include <unistd.h>

static int ends[2];
static atomic_int open_end;

static void shut(void) {
    if (atomic_exchange(&open_end, 0)) close(ends[1]);
}

static void *work(void *unused) {
    shut();
    return unused;
}

int main(void) {
    pthread_t worker;
    if (pipe(ends) != 0) return 2;
    open_end = 1;
    if (pthread_create(&worker, NULL, work, NULL) != 0) return 2;
    shut();
    pthread_join(worker, NULL);
    puts("shut");
    return 0;
}
