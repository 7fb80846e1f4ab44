// A consumer waits for jobs, and a producer makes one, as far as the settings allow it.
// Bug: the consumer waits with the settings locked. If it comes first, the producer cannot look up how
// many jobs there may be, and never makes one.
// Finds: deadlock on settings; deadlock
// The twin is wait_holding_fixed.c.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t settings = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int jobs, limit = 8;

static void *produce(void *unused) {
    pthread_mutex_lock(&settings);
    int most = limit;
    pthread_mutex_unlock(&settings);
    usleep(1000); /* it takes time to make one */
    pthread_mutex_lock(&queue);
    if (jobs < most) jobs++;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&queue);
    return unused;
}

static void *consume(void *unused) {
    pthread_mutex_lock(&settings);
    pthread_mutex_lock(&queue);
    while (jobs == 0) pthread_cond_wait(&filled, &queue);
    jobs--;
    pthread_mutex_unlock(&queue);
    pthread_mutex_unlock(&settings);
    return unused;
}

int main(void) {
    pthread_t produces, consumes;
    if (pthread_create(&produces, NULL, produce, NULL) != 0) return 2;
    if (pthread_create(&consumes, NULL, consume, NULL) != 0) return 2;
    pthread_join(produces, NULL);
    pthread_join(consumes, NULL);
    printf("jobs: %d\n", jobs);
    return 0;
}
