// A worker fills in a form that its owner has allocated. The owner waits for it, for three seconds.
// Bug: whether the form is done or the time has run out, the owner frees it; the worker may still write
// to it.
// Finds: order on done; memory
// The twin is hasty_owner_fixed.c.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

struct form {
    int fields[4];
};

static sem_t done;

static void *work(void *given) {
    struct form *form = given;
    for (int i = 0; i < 4; i++) form->fields[i] = i;
    sem_post(&done);
    return NULL;
}

static void *own(void *unused) {
    pthread_t worker;
    struct timespec until;
    struct form *form = calloc(1, sizeof *form);
    if (form == NULL || pthread_create(&worker, NULL, work, form) != 0) return NULL;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 3;
    sem_timedwait(&done, &until);
    free(form);
    pthread_join(worker, NULL);
    return unused;
}

int main(void) {
    pthread_t owner;
    if (sem_init(&done, 0, 0) != 0) return 2;
    if (pthread_create(&owner, NULL, own, NULL) != 0) return 2;
    pthread_join(owner, NULL);
    return 0;
}
