// Clerks pay into one account.
// Bug: the balance is read and written without a lock, so that a payment can be lost.
// True: R1-W2-W1 at pay, pay, pay
// The twin is account_fixed.c.
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

static long balance = 100;

static void *clerk(void *unused) {
    BEGIN;
    (void)unused;
    balance = balance + 10; // @pay
    END;
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, clerk, NULL);
    pthread_create(&threads[1], NULL, clerk, NULL);
    pthread_create(&threads[2], NULL, clerk, NULL);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    if (balance != 130) {
        fprintf(stderr, "a payment was lost: %ld\n", balance);
        return 1;
    }
    return 0;
}
