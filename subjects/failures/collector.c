// A collector of garbage sets a flag while it works. Other threads look at the flag, and then change the
// table that the collector sweeps.
// Bug: looking and changing are two critical sections, and a collection can begin in between. After an error
// in the JavaScript engine of Mozilla.
// Finds: atomicity on collecting; exit
// The twin is collector_fixed.c.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int collecting;
static int entries = 5;

static void flag(int to) {
    pthread_mutex_lock(&lock);
    collecting = to;
    pthread_mutex_unlock(&lock);
}

static void *collect(void *unused) {
    flag(1);
    pthread_mutex_lock(&lock);
    entries /= 2;
    pthread_mutex_unlock(&lock);
    flag(0);
    return unused;
}

static void *define(void *unused) {
    pthread_mutex_lock(&lock);
    int wait = collecting;
#ifdef FIXED
    if (!wait) entries++;
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_unlock(&lock);
    if (wait) return unused;
    pthread_mutex_lock(&lock);
    if (collecting) {
        fprintf(stderr, "the table was changed during a collection\n");
        exit(1);
    }
    entries++;
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t script, collector;
    pthread_create(&script, NULL, define, NULL);
    pthread_create(&collector, NULL, collect, NULL);
    pthread_join(script, NULL);
    pthread_join(collector, NULL);
    printf("done\n");
    return 0;
}
