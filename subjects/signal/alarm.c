// A worker waits for an alarm, whose handler adds to a total.
// Bug: the first thread adds after it has set the alarm, so that one of the two may be lost.
// Finds: race on total; assertion
// The twin is alarm_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int total;

static void on_alarm(int signal) {
    (void)signal;
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    sigset_t none;
    sigemptyset(&none);
    sigsuspend(&none);
    return argument;
}

int main(void) {
    pthread_t worker;
    struct sigaction action = { .sa_handler = on_alarm };
    sigaction(SIGALRM, &action, NULL);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    pthread_create(&worker, NULL, work, NULL);
    alarm(1);
    int seen = total;
    total = seen + 1;
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
