// Customers buy the last items of a shop.
// Bug: the check and the sale are in two critical sections.
// True: R1-W2-W1 at check, take, take
// True: R1-W2-R1 at check, take, take
// The twin is shop_fixed.c.
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
static int items = 2;

static int has_items(void) {
    pthread_mutex_lock(&lock);
    int some = items > 0; // @check
    pthread_mutex_unlock(&lock);
    return some;
}

static void *customer(void *unused) {
    BEGIN;
    (void)unused;
    if (has_items()) {
        pthread_mutex_lock(&lock);
        items--; // @take
        pthread_mutex_unlock(&lock);
    }
    END;
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, customer, NULL);
    pthread_create(&threads[1], NULL, customer, NULL);
    pthread_create(&threads[2], NULL, customer, NULL);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    if (items < 0) {
        fprintf(stderr, "%d items too many were sold\n", -items);
        return 1;
    }
    return 0;
}
