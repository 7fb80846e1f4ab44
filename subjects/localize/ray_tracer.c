// Threads trace the rows of an image and add to one checksum.
// Bug: the addition is not atomic, so that the checksum of a row can be lost.
// True: R1-W2-W1 at add, add, add
// The twin is ray_tracer_fixed.c.
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

static long checksum;

static long trace(long row) {
    long sum = 0;
    for (long column = 0; column < 8; column++) {
        sum += (row * 31 + column * 17) % 256;
    }
    return sum;
}

static void *first(void *unused) {
    BEGIN;
    checksum += trace(1); // @add
    checksum += trace(2); // @add
    END;
    return unused;
}

static void *second(void *unused) {
    BEGIN;
    checksum += trace(3); // @add
    checksum += trace(4); // @add
    END;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    if (checksum != trace(1) + trace(2) + trace(3) + trace(4)) {
        fprintf(stderr, "the checksum is wrong: %ld\n", checksum);
        return 1;
    }
    return 0;
}
