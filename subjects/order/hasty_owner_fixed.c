// A worker fills in a form that its owner has allocated. The owner waits for it, for three seconds.
// If the time has run out, it waits for the worker before it frees the form.
// Finds: nothing harmful
// The twin with the bug is hasty_owner.c.
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
    if (sem_timedwait(&done, &until) == 0) {
        free(form);
        form = NULL;
    }
    pthread_join(worker, NULL);
    free(form);
    return unused;
}

int main(void) {
    pthread_t owner;
    if (sem_init(&done, 0, 0) != 0) return 2;
    if (pthread_create(&owner, NULL, own, NULL) != 0) return 2;
    pthread_join(owner, NULL);
    return 0;
}
