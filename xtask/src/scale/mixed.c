// Threads that mostly work on their own memory, sometimes on tables under locks, and rarely on a
// shared variable without one. Argument: the approximate number of events.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, TABLES = 16, PLACES = 64, OWN = 256 };

static pthread_mutex_t locks[TABLES] = {[0 ... TABLES - 1] = PTHREAD_MUTEX_INITIALIZER};
static long tables[TABLES][PLACES];
static long mistake;
static long rounds;

static void *work(void *arg) {
    unsigned seed = (unsigned)(size_t)arg;
    long *own = calloc(OWN, sizeof *own);
    for (long round = 0; round < rounds; round++) {
        for (int at = 0; at < OWN; at++)
            own[at] += own[(at * 7 + 1) % OWN] + round;
        seed = seed * 1103515245 + 12345;
        unsigned table = (seed >> 16) % TABLES, place = (seed >> 8) % PLACES;
        pthread_mutex_lock(&locks[table]);
        tables[table][place] += own[place];
        pthread_mutex_unlock(&locks[table]);
        if (round % 1024 == 0)
            mistake++;
    }
    free(own);
    return NULL;
}

int main(int argc, char **argv) {
    // Each round has about three events for each own variable.
    rounds = atol(argc > 1 ? argv[1] : "100000") / THREADS / (3 * OWN + 8) + 1;
    pthread_t threads[THREADS];
    for (long it = 0; it < THREADS; it++)
        pthread_create(&threads[it], NULL, work, (void *)(it + 1));
    for (int it = 0; it < THREADS; it++)
        pthread_join(threads[it], NULL);
    printf("%d\n", mistake > 0);
    return 0;
}
