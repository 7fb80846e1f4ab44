// A thread takes a lock that it has, and the first thread waits for its end.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void again(void) {
    pthread_mutex_lock(&lock); // again
}

static void *twice(void *arg) {
    pthread_mutex_lock(&lock); // first
    again();                   // call
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, twice, NULL);
    pthread_join(thread, NULL);
    return 0;
}
