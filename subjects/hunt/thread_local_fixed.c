// The twin of thread_local.c: a thread shows the first one its own counter, a thread-local variable.
// It counts under the lock.
// Finds: nothing harmful
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
    pthread_mutex_lock(&lock);
    requests++;
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
