// A thread asks another one to do something, and waits until it is no longer pending.
// Bug: it notes that the request is pending after it has sent it, and so may overwrite the answer. It then
// waits forever. Locks cannot prevent that.
// Finds: order on pending; hang
// The twin is pending_fixed.c.
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

static sem_t request;
static atomic_int pending;

static void *serve(void *unused) {
    sem_wait(&request);
    atomic_store(&pending, 0);
    return unused;
}

int main(void) {
    pthread_t server;
    sem_init(&request, 0, 0);
    pthread_create(&server, NULL, serve, NULL);
#ifdef FIXED
    atomic_store(&pending, 1);
    sem_post(&request);
#else
    sem_post(&request);
    atomic_store(&pending, 1);
#endif
    while (atomic_load(&pending)) sched_yield();
    pthread_join(server, NULL);
    printf("done\n");
    return 0;
}
