// A thread waits for a signal and then adds to a total.
// Bug: the first thread adds after it has sent the signal, so that one of the two may be lost.
// Finds: race on total; assertion
// The twin is sigwait_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int total;

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *watch(void *signals) {
    int signal = 0;
    assert(sigwait(signals, &signal) == 0 && signal == SIGTERM);
    add();
    return NULL;
}

int main(void) {
    pthread_t watcher;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    pthread_create(&watcher, NULL, watch, &signals);
    kill(getpid(), SIGTERM);
    add();
    pthread_join(watcher, NULL);
    assert(total == 2);
    return 0;
}
