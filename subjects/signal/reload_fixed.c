// The twin of reload.c: a signal makes a program read its configuration again, which a worker uses.
// The handler stores both atomically, the flag last.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static _Atomic int config = 1;
static _Atomic int reload;

static void on_hangup(int signal) {
    (void)signal;
    config = 2;
    reload = 1;
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
