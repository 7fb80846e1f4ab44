// The twin of interrupted.c: a thread and a signal handler on the same thread add to a total.
// The thread blocks the signal while it adds.
// Finds: nothing harmful
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
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    int seen = total;
    total = seen + 1;
    pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
