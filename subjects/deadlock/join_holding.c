// A worker writes a report into a registry, and main closes the registry when the worker is done.
// Bug: main locks the registry before it waits for the worker. If the worker has not yet written, it
// never does.
// Finds: deadlock on registry; deadlock
// The twin is join_holding_fixed.c.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static int reports;

static void *work(void *unused) {
    pthread_mutex_lock(&registry);
    reports++;
    pthread_mutex_unlock(&registry);
    return unused;
}

int main(void) {
    pthread_t worker;
    if (pthread_create(&worker, NULL, work, NULL) != 0) return 2;
    sched_yield();
    pthread_mutex_lock(&registry);
    pthread_join(worker, NULL);
    printf("reports: %d\n", reports);
    pthread_mutex_unlock(&registry);
    return 0;
}
