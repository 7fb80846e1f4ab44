// A robust mutex whose owner ends without giving it back.
// Events: T0.1 acquires `m` and ends; T0 acquires it, marked as the owner's death, and releases it.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m;

static void *die(void *unused) {
    pthread_mutex_lock(&m);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&m, &attributes);
    pthread_create(&thread, NULL, die, NULL);
    pthread_join(thread, NULL);
    printf("%d\n", pthread_mutex_lock(&m) == EOWNERDEAD);
    pthread_mutex_consistent(&m);
    pthread_mutex_unlock(&m);
    return 0;
}
