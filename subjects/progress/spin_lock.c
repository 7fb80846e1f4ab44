// A printer takes jobs from a queue, and looks under the lock again and again while it is empty.
// Bug: it looks without the lock whether the office has closed.
// Finds: race on closed; none
// The twin is spin_lock_fixed.c.
#include <pthread.h>

enum { JOBS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int jobs, closed, printed;

static void *print(void *argument) {
    int last = 0;
    while (!last) {
        pthread_mutex_lock(&lock);
        if (jobs > 0) {
            jobs--;
            printed++;
        }
        pthread_mutex_unlock(&lock);
        last = closed;
    }
    return argument;
}

static void *work(void *argument) {
    for (int i = 0; i < JOBS; i++) {
        pthread_mutex_lock(&lock);
        jobs++;
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    closed = 1;
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_t printer, worker;
    pthread_create(&printer, NULL, print, NULL);
    pthread_create(&worker, NULL, work, NULL);
    pthread_join(printer, NULL);
    pthread_join(worker, NULL);
    return printed > JOBS;
}
