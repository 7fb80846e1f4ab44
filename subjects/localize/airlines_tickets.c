// Offices sell the seats of one flight.
// Bug: whether a seat is left is checked without the lock under which it is sold.
// True: R1-W2-W1 at check, sell, sell
// The twin is airlines_tickets_fixed.c.
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

#define SEATS 1

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sold;

static void *office(void *unused) {
    BEGIN;
    (void)unused;
    for (int customer = 0; customer < 2; customer++) {
        if (sold < SEATS) { // @check
            pthread_mutex_lock(&lock);
            sold++; // @sell
            pthread_mutex_unlock(&lock);
        }
    }
    END;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, office, NULL);
    pthread_create(&threads[1], NULL, office, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    if (sold > SEATS) {
        fprintf(stderr, "%d seats were sold twice\n", sold - SEATS);
        return 1;
    }
    return 0;
}
