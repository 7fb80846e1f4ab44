// An event loop takes jobs from a queue. A byte in a pipe wakes it.
// Bug (order violation): whoever submits a job writes a byte only if the queue was empty, but the loop
// takes one job for each byte: if two jobs are submitted before the loop looks, it waits for a second byte.
// Consequence: deadlock
// The twin is wake_pipe_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

enum { JOBS = 3, MOST = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int jobs[MOST];
static int first, last;
static int wake[2];
static sem_t started;

static void submit(int job) {
    pthread_mutex_lock(&lock);
    int was_empty = first == last;
    jobs[last++] = job;
    pthread_mutex_unlock(&lock);
    if (was_empty) assert(write(wake[1], "w", 1) == 1);
}

static int take(int *job) {
    pthread_mutex_lock(&lock);
    int has = first < last;
    if (has) *job = jobs[first++];
    pthread_mutex_unlock(&lock);
    return has;
}

static void *loop(void *argument) {
    int sum = 0, done = 0, job;
    while (done < JOBS) {
        char byte;
        struct pollfd ready = { .fd = wake[0], .events = POLLIN };
        assert(poll(&ready, 1, -1) == 1);
        assert(read(wake[0], &byte, 1) == 1);
#ifdef FIXED
        while (take(&job)) {
#else
        if (take(&job)) {
#endif
            sum += job;
            if (done++ == 0) sem_post(&started);
        }
    }
    *(int *)argument = sum;
    return NULL;
}

static void *send_job(void *argument) {
    submit(*(int *)argument);
    return NULL;
}

int main(void) {
    pthread_t worker, sender;
    int number = 7;
    int sum = 0;
    assert(pipe(wake) == 0);
    sem_init(&started, 0, 0);
    pthread_create(&worker, NULL, loop, &sum);
    submit(5);
    sem_wait(&started);
    pthread_create(&sender, NULL, send_job, &number);
    usleep(2000);
    submit(9);
    pthread_join(sender, NULL);
    pthread_join(worker, NULL);
    printf("sum %d\n", sum);
    assert(sum == 21);
    return 0;
}
