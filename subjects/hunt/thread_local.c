// A thread shows the first one its own counter, a thread-local variable.
// Bug: it goes on counting without a lock while the first thread reads the counter.
// Finds: race on requests; none
// The twin is thread_local_fixed.c.
#include <pthread.h>

static __thread int requests;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int *shown;
static int done;

static void *serve(void *argument) {
    pthread_mutex_lock(&lock);
    shown = &requests;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    requests++;
    pthread_mutex_lock(&lock);
    while (!done) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, serve, NULL);
    pthread_mutex_lock(&lock);
    while (!shown) pthread_cond_wait(&changed, &lock);
    int seen = *shown;
    done = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    return seen > 1;
}
