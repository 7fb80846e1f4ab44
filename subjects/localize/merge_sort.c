// A thread merges two halves while another one waits for the result.
// Bug: the state is visible while the halves are being merged.
// True: W1-R2-W1 at begin, look, finish
// The twin is merge_sort_fixed.c.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef FIXED
static pthread_mutex_t region = PTHREAD_MUTEX_INITIALIZER;
#define BEGIN pthread_mutex_lock(&region)
#define END pthread_mutex_unlock(&region)
#else
#define BEGIN (void)0
#define END (void)0
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int merged = 2;
static int confused;

static void *merger(void *unused) {
    BEGIN;
    (void)unused;
    pthread_mutex_lock(&lock);
    merged = -1; // @begin
    pthread_mutex_unlock(&lock);
    for (volatile int step = 0; step < 3; step++) {
    }
    pthread_mutex_lock(&lock);
    merged = 4; // @finish
    pthread_mutex_unlock(&lock);
    END;
    return NULL;
}

static void *reader(void *unused) {
    BEGIN;
    (void)unused;
    pthread_mutex_lock(&lock);
    int seen = merged; // @look
    pthread_mutex_unlock(&lock);
    if (seen < 0) {
        __atomic_store_n(&confused, 1, __ATOMIC_RELAXED);
    }
    END;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, merger, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    if (__atomic_load_n(&confused, __ATOMIC_RELAXED)) {
        fprintf(stderr, "a half-merged array was used\n");
        return 1;
    }
    return 0;
}
