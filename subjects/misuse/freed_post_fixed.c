// A job is freed when it is done.
// It is freed after the worker was joined.
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
    atomic_int done;
    sem_t finished;
};

static void *work(void *argument) {
    struct job *job = argument;
    atomic_store(&job->done, 1);
    sem_post(&job->finished);
    return NULL;
}

int main(void) {
    struct job *job = calloc(1, sizeof *job);
    pthread_t worker;
    sem_init(&job->finished, 0, 0);
    if (pthread_create(&worker, NULL, work, job) != 0) return 2;
    while (!atomic_load(&job->done)) sched_yield();
    pthread_join(worker, NULL);
    free(job);
    puts("done");
    return 0;
}
