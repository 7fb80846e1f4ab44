// Two threads sort the halves of an array, which overlap in one element.
// Bug: they exchange the common element without a lock, so that a number can be lost.
// True: R1-W2-W1 at compare, store, store
// True: R1-W2-W1 at load, store, store
// True: R1-W2-R1 at compare, store, load
// The twin is bubble_sort_fixed.c.
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

static int numbers[5] = { 9, 7, 5, 3, 1 };

static void sort(int from, int to) {
    for (int last = to - 1; last > from; last--) {
        for (int at = from; at < last; at++) {
            if (numbers[at] > numbers[at + 1]) { // @compare
                int larger = *(volatile int *)&numbers[at]; // @load
                numbers[at] = numbers[at + 1]; // @store
                numbers[at + 1] = larger; // @store
            }
        }
    }
}

static void *lower(void *unused) {
    BEGIN;
    sort(0, 3);
    END;
    return unused;
}

static void *upper(void *unused) {
    BEGIN;
    sort(2, 5);
    END;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, lower, NULL);
    pthread_create(&threads[1], NULL, upper, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        sum += numbers[i];
    }
    if (sum != 25) {
        fprintf(stderr, "a number was lost: the sum is %d\n", sum);
        return 1;
    }
    return 0;
}
