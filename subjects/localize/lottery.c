// Players note the winning number and look at it again when they claim their prize.
// Bug: the number is read twice, and another one may be drawn in between.
// True: R1-W2-R1 at note, draw, claim
// The twin is lottery_fixed.c.
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
static int winner = 7;
static int cheated;

static void *machine(void *unused) {
    BEGIN;
    for (int number = 8; number < 10; number++) {
        pthread_mutex_lock(&lock);
        winner = number; // @draw
        pthread_mutex_unlock(&lock);
    }
    END;
    return unused;
}

static void *player(void *unused) {
    BEGIN;
    pthread_mutex_lock(&lock);
    int noted = winner; // @note
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    if (winner != noted) { // @claim
        cheated++;
    }
    pthread_mutex_unlock(&lock);
    END;
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, machine, NULL);
    pthread_create(&threads[1], NULL, player, NULL);
    pthread_create(&threads[2], NULL, player, NULL);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    if (cheated > 0) {
        fprintf(stderr, "the number changed for %d players\n", cheated);
        return 1;
    }
    return 0;
}
