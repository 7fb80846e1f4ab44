// The twin of spin_lock.c: a printer takes jobs from a queue, and looks under the lock again and again while it is empty.
// It looks with the lock whether the office has closed.
// Finds: nothing harmful
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
        last = closed && jobs == 0;
        pthread_mutex_unlock(&lock);
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
