// A thread and a signal handler on the same thread add to a total.
// Bug: the handler may interrupt the thread between its read and its write, so that one of the two is lost.
// Finds: atomicity on total; assertion
// The twin is interrupted_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <signal.h>

static int total;
static pthread_t first;

static void on_signal(int signal) {
    (void)signal;
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    pthread_kill(first, SIGUSR1);
    return argument;
}

int main(void) {
    pthread_t worker;
    struct sigaction action = { .sa_handler = on_signal };
    sigaction(SIGUSR1, &action, NULL);
    first = pthread_self();
    pthread_create(&worker, NULL, work, NULL);
    int seen = total;
    total = seen + 1;
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
