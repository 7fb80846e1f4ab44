// A thread looks a buffer up and sums what is in it; another thread replaces the buffer and frees the old one.
// Bug: the lock protects the pointer, but not what it points to.
// Finds: lifetime on make; use after free
// The twin is freed_fixed.c.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *buffer;
static int sum;

static int *make(int content) {
    int *it = malloc(SIZE * sizeof *it);
    if (it == NULL) exit(2);
    for (int at = 0; at < SIZE; at++) it[at] = content;
    return it;
}

static void *add_up(void *unused) {
    pthread_mutex_lock(&lock);
    int *it = buffer;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
#endif
    for (int at = 0; at < SIZE; at++) sum += it[at];
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

static void *replace(void *unused) {
    int *next = make(2);
    pthread_mutex_lock(&lock);
    int *old = buffer;
    buffer = next;
    pthread_mutex_unlock(&lock);
    free(old);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    buffer = make(1);
    pthread_create(&threads[0], NULL, add_up, NULL);
    pthread_create(&threads[1], NULL, replace, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%s\n", sum > 0 ? "added" : "empty");
    free(buffer);
    return 0;
}
