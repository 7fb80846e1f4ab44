// Two connections are served, and the server prints how many there were when a third one asks.
// Bug: what is printed depends on which thread comes first. After the output of Cherokee, which varies.
// Finds: order on served; different output
// The twin is served_fixed.c.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int served;

static void *serve(void *unused) {
    pthread_mutex_lock(&lock);
    served++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *status(void *unused) {
    pthread_mutex_lock(&lock);
    int now = served;
    pthread_mutex_unlock(&lock);
    printf("served %d\n", now);
    return unused;
}

int main(void) {
    pthread_t connections[2], monitor;
    for (int at = 0; at < 2; at++) pthread_create(&connections[at], NULL, serve, NULL);
#ifdef FIXED
    for (int at = 0; at < 2; at++) pthread_join(connections[at], NULL);
    pthread_create(&monitor, NULL, status, NULL);
#else
    pthread_create(&monitor, NULL, status, NULL);
    for (int at = 0; at < 2; at++) pthread_join(connections[at], NULL);
#endif
    pthread_join(monitor, NULL);
    return 0;
}
