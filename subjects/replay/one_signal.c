// Two threads wait for the start, and only one is woken.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t started = PTHREAD_COND_INITIALIZER;
static int go;

static void *run(void *arg) {
    pthread_mutex_lock(&lock);
    while (!go) pthread_cond_wait(&started, &lock); // wait
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, run, NULL);
    pthread_mutex_lock(&lock);
    go = 1;
    pthread_cond_signal(&started); // signal
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    return 0;
}
