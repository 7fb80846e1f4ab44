// The twin of sigwait.c: a thread waits for a signal and then adds to a total.
// The first thread adds before it sends the signal, which the other one receives after that.
// Finds: nothing harmful
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
    add();
    kill(getpid(), SIGTERM);
    pthread_join(watcher, NULL);
    assert(total == 2);
    return 0;
}
