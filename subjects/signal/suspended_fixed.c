// The twin of suspended.c: a helper waits for a signal, whose handler adds to a total.
// The first thread adds before it sends the signal, and the handler runs after that.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <signal.h>

static int total;
static pthread_t helper;

static void on_signal(int signal) {
    (void)signal;
    int seen = total;
    total = seen + 1;
}

static void *help(void *argument) {
    sigset_t none;
    sigemptyset(&none);
    sigsuspend(&none);
    return argument;
}

int main(void) {
    struct sigaction action = { .sa_handler = on_signal };
    sigaction(SIGUSR1, &action, NULL);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    pthread_create(&helper, NULL, help, NULL);
    int seen = total;
    total = seen + 1;
    pthread_kill(helper, SIGUSR1);
    pthread_join(helper, NULL);
    assert(total == 2);
    return 0;
}
