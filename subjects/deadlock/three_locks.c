// Three painters mix two colours each, and take their pots one after the other.
// Bug: red before green, green before blue, blue before red. No two of them can block each other, but
// all three can.
// Finds: deadlock on red, green, blue; deadlock
// The twin is three_locks_fixed.c.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t red = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t green = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t blue = PTHREAD_MUTEX_INITIALIZER;
static int mixed;

static void mix(pthread_mutex_t *one, pthread_mutex_t *other) {
    pthread_mutex_lock(one);
    pthread_mutex_lock(other);
    __atomic_add_fetch(&mixed, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(other);
    pthread_mutex_unlock(one);
}

static void *yellow(void *unused) {
    mix(&red, &green);
    return unused;
}

static void *cyan(void *unused) {
    mix(&green, &blue);
    return unused;
}

static void *magenta(void *unused) {
    mix(&blue, &red);
    return unused;
}

int main(void) {
    pthread_t painters[3];
    void *(*colours[3])(void *) = { yellow, cyan, magenta };
    for (int i = 0; i < 3; i++)
        if (pthread_create(&painters[i], NULL, colours[i], NULL) != 0) return 2;
    for (int i = 0; i < 3; i++) pthread_join(painters[i], NULL);
    printf("mixed: %d\n", mixed);
    return 0;
}
