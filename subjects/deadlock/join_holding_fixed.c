// The twin of join_holding.c: a worker writes a report into a registry, and main closes it when the
// worker is done. Main waits first, and locks then.
// Finds: nothing harmful
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
    pthread_join(worker, NULL);
    pthread_mutex_lock(&registry);
    printf("reports: %d\n", reports);
    pthread_mutex_unlock(&registry);
    return 0;
}
