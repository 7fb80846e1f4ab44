// A thread counts, and a signal handler that may interrupt it anywhere counts, too.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static int count;
static pthread_t first;

static void on_signal(int signal) {
    (void)signal;
    count += 10;
}

static void *send(void *unused) {
    pthread_kill(first, SIGUSR1);
    return unused;
}

int main(void) {
    pthread_t sender;
    struct sigaction action = { .sa_handler = on_signal };
    sigaction(SIGUSR1, &action, NULL);
    first = pthread_self();
    pthread_create(&sender, NULL, send, NULL);
    int seen = count; // read
    count = seen + 1; // write
    pthread_join(sender, NULL);
    printf("%d\n", count);
    return 0;
}
