// A thread reads a signal from a file and then adds to a total.
// Bug: the first thread adds after it has sent the signal, so that one of the two may be lost.
// Finds: race on total; assertion
// The twin is signal_file_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int total;
static int file;

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *watch(void *argument) {
    struct signalfd_siginfo info;
    assert(read(file, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR2);
    add();
    return argument;
}

int main(void) {
    pthread_t watcher;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    file = signalfd(-1, &signals, 0);
    assert(file >= 0);
    pthread_create(&watcher, NULL, watch, NULL);
    kill(getpid(), SIGUSR2);
    add();
    pthread_join(watcher, NULL);
    assert(total == 2);
    return 0;
}
