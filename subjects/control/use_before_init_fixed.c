// The twin of use_before_init.c: the worker is given its limits before it is started, so it never
// meets a null pointer and never fails.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct limits {
    int most;
};

struct worker {
    pthread_t thread;
    atomic_int begun;
    const struct limits *limits;
    int done;
};

static struct limits usual = { 100 };
static struct worker worker;

static void *work(void *argument) {
    struct worker *self = argument;
    int begun = atomic_load(&self->begun); /* B1 */
    if (begun) {
        const struct limits *limits = self->limits; /* B2 */
        int most = limits->most;                    /* B3 */
        self->done = most;
    }
    return NULL;
}

static void *manage(void *unused) {
    worker.limits = &usual; /* A1 */
    if (pthread_create(&worker.thread, NULL, work, &worker) != 0) exit(2);
    atomic_store(&worker.begun, 1); /* A2 */
    pthread_join(worker.thread, NULL);
    return unused;
}

int main(void) {
    pthread_t manager;
    if (pthread_create(&manager, NULL, manage, NULL) != 0) return 2;
    pthread_join(manager, NULL);
    printf("done: %d\n", worker.done);
    return 0;
}
