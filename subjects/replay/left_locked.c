// A thread ends with a lock in its hands, and the first thread wants it.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *keep(void *arg) {
    pthread_mutex_lock(&lock); // keep
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, keep, NULL);
    pthread_join(thread, NULL);
    pthread_mutex_lock(&lock); // want
    return 0;
}
