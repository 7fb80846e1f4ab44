// The twin of three_locks.c: three painters mix two colours each.
// All take red before green and green before blue.
// Finds: nothing harmful
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
    mix(&red, &blue);
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
