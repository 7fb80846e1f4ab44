// A signal makes a program read its configuration again, which a worker uses.
// Bug: the handler sets the flag before the configuration, and nothing orders it with the worker.
// Finds: race on reload, config; assertion
// The twin is reload_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int config = 1;
static int reload;

static void on_hangup(int signal) {
    (void)signal;
    reload = 1;
    config = 2;
}

static void *work(void *argument) {
    if (reload) assert(config == 2);
    return argument;
}

int main(void) {
    pthread_t worker;
    struct sigaction action = { .sa_handler = on_hangup };
    sigaction(SIGHUP, &action, NULL);
    pthread_create(&worker, NULL, work, NULL);
    kill(getpid(), SIGHUP);
    pthread_join(worker, NULL);
    return 0;
}
