// The twin of setenv.c: a thread sets a variable of the environment while another one looks one up.
// A lock protects the environment.
// Finds: nothing harmful
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *configure(void *argument) {
    pthread_mutex_lock(&lock);
    setenv("NORN_SUBJECT", "1", 1);
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, configure, NULL);
    pthread_mutex_lock(&lock);
    int found = getenv("PATH") != NULL;
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    return found ? 0 : 1;
}
