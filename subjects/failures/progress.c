// Workers count what they have done, each in an own counter and all in one total. A reporter adds up the
// counters and compares them with the total.
// Bug: a worker releases the lock between its own counter and the total, so that the reporter can see one
// without the other. After an error in Aget, whose progress display is wrong.
// Finds: order on total, done; exit
// The twin is progress_fixed.c.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 3, BLOCKS = 2, BLOCK = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done[WORKERS];
static int total;

static void advance(int worker) {
    pthread_mutex_lock(&lock);
    done[worker] += BLOCK;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    total += BLOCK;
    pthread_mutex_unlock(&lock);
}

static void *work(void *argument) {
    for (int block = 0; block < BLOCKS; block++) advance((int)(long)argument);
    return NULL;
}

static void *report(void *unused) {
    int sum = 0;
    pthread_mutex_lock(&lock);
    for (int worker = 0; worker < WORKERS; worker++) sum += done[worker];
    int all = total;
    pthread_mutex_unlock(&lock);
    if (sum != all) {
        fprintf(stderr, "progress: %d of the workers, %d in total\n", sum, all);
        exit(1);
    }
    return unused;
}

int main(void) {
    pthread_t workers[WORKERS], reporter;
    for (long at = 0; at < WORKERS; at++) pthread_create(&workers[at], NULL, work, (void *)at);
    pthread_create(&reporter, NULL, report, NULL);
    for (int at = 0; at < WORKERS; at++) pthread_join(workers[at], NULL);
    pthread_join(reporter, NULL);
    printf("done\n");
    return 0;
}
