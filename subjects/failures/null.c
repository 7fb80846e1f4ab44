// A monitor shows what a connection is doing, if it is doing anything.
// Bug: between the check and the use, which are two critical sections, the connection may reset the
// description. After an error in MySQL.
// Finds: atomicity on activity; crash
// The twin is null_fixed.c.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *activity = "sorting";

static const char *current(void) {
    pthread_mutex_lock(&lock);
    const char *now = activity;
    pthread_mutex_unlock(&lock);
    return now;
}

static void *monitor(void *unused) {
#ifdef FIXED
    const char *now = current();
    if (now != NULL) putchar(now[0]);
#else
    if (current() != NULL) putchar(current()[0]);
#endif
    return unused;
}

static void *connection(void *unused) {
    pthread_mutex_lock(&lock);
    activity = NULL;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, monitor, NULL);
    pthread_create(&threads[1], NULL, connection, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
