// A thread takes a lock that another one has taken away.
// In turn, it comes too late.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t *lock;

static void *use(void *unused) {
    (void)unused;
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, use, NULL);
    lock = NULL;
    pthread_join(thread, NULL);
    return 0;
}
