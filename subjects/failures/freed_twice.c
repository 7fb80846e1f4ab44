// Two threads give a buffer back; the one that comes first is to free it.
// Bug: the flag that says so is read and set in two critical sections, so that both can free it.
// Finds: order on is_free; double free
// The twin is freed_twice_fixed.c.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *buffer;
static int is_free;

static void *give_back(void *unused) {
    pthread_mutex_lock(&lock);
    int was_free = is_free;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    if (was_free) return unused;
    pthread_mutex_lock(&lock);
#endif
    is_free = 1;
    pthread_mutex_unlock(&lock);
    if (!was_free) free(buffer);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    buffer = calloc(1, 32);
    for (int at = 0; at < 2; at++) pthread_create(&threads[at], NULL, give_back, NULL);
    for (int at = 0; at < 2; at++) pthread_join(threads[at], NULL);
    printf("done\n");
    return 0;
}
