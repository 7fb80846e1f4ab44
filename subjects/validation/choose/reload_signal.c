// A daemon reloads its settings when it gets SIGHUP; the handler counts requests to reload.
// Bug (atomicity violation): the main thread takes the requests by reading the counter and then setting
// it to zero, so that a signal in between is lost.
// Consequence: assertion
// The twin is reload_signal_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { SIGNALS = 2 };

static atomic_int requests;
static atomic_int handled;
static int reloads;
static pthread_t daemon_thread;

static void on_hangup(int number) {
    (void)number;
    atomic_fetch_add(&requests, 1);
    atomic_fetch_add(&handled, 1);
}

static int take_requests(void) {
#ifdef FIXED
    return atomic_exchange(&requests, 0);
#else
    int taken = atomic_load(&requests);
    if (taken > 0) atomic_store(&requests, 0);
    return taken;
#endif
}

static void *administrate(void *unused) {
    for (int i = 0; i < SIGNALS; i++) {
        pthread_kill(daemon_thread, SIGHUP);
        while (atomic_load(&handled) <= i) sched_yield();
    }
    return unused;
}

int main(void) {
    pthread_t administrator;
    struct sigaction action = { .sa_handler = on_hangup };
    sigemptyset(&action.sa_mask);
    sigaction(SIGHUP, &action, NULL);
    daemon_thread = pthread_self();
    pthread_create(&administrator, NULL, administrate, NULL);
    for (int i = 0; i < 3; i++) {
        reloads += take_requests();
        sched_yield();
    }
    pthread_join(administrator, NULL);
    reloads += take_requests();
    printf("%d reloads\n", reloads);
    assert(reloads == SIGNALS);
    return 0;
}
