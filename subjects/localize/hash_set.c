// A thread iterates over a set while another one adds to it.
// Bug: the iteration takes the lock for each element only, and notices the change.
// True: R1-W2-R1 at begin, add, next
// True: R1-W2-R1 at next, add, next
// The twin is hash_set_fixed.c.
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
static int buckets[8] = { 1, 2, 3 };
static int count = 3;
static int changes;

static void *iterate(void *unused) {
    BEGIN;
    pthread_mutex_lock(&lock);
    int expected = changes; // @begin
    pthread_mutex_unlock(&lock);
    int sum = 0;
    for (int at = 0; at < 3; at++) {
        pthread_mutex_lock(&lock);
        if (changes != expected) { // @next
            fprintf(stderr, "the set was changed during an iteration\n");
            exit(1);
        }
        sum += buckets[at];
        pthread_mutex_unlock(&lock);
    }
    END;
    return unused;
}

static void *add(void *unused) {
    BEGIN;
    pthread_mutex_lock(&lock);
    buckets[count] = 4;
    count++;
    changes++; // @add
    pthread_mutex_unlock(&lock);
    END;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, iterate, NULL);
    pthread_create(&threads[1], NULL, add, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    
    return 0;
}
