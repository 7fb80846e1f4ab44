// Money is moved between accounts that each have a lock. The second lock is only tried, so that no deadlock
// is possible; after two failures, the transfer is put off.
// Bug (lock misuse): the path on which it is put off releases the first lock, and so does the end of the
// function.
// Deep: the path is not taken in a run without switches; the other account must be locked at both tries.
// Consequence: misuse
// The twin is busy_transfer_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

struct account { pthread_mutex_t lock; int balance; };

static struct account accounts[2] = {
    {PTHREAD_MUTEX_INITIALIZER, 100},
    {PTHREAD_MUTEX_INITIALIZER, 100},
};

static int transfer(struct account *from, struct account *to, int amount) {
    int moved = 0;
    for (int tries = 0;; tries++) {
        pthread_mutex_lock(&from->lock);
        if (pthread_mutex_trylock(&to->lock) == 0) break;
        if (tries == 1) {
#ifndef FIXED
            pthread_mutex_unlock(&from->lock);
#endif
            goto out;
        }
        pthread_mutex_unlock(&from->lock);
        sched_yield();
    }
    from->balance -= amount;
    to->balance += amount;
    moved = 1;
    pthread_mutex_unlock(&to->lock);
out:
    pthread_mutex_unlock(&from->lock);
    return moved;
}

static void *there(void *unused) {
    (void)unused;
    transfer(&accounts[0], &accounts[1], 30);
    return NULL;
}

static void *back(void *unused) {
    (void)unused;
    transfer(&accounts[1], &accounts[0], 20);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, there, NULL);
    pthread_create(&b, NULL, back, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(accounts[0].balance + accounts[1].balance == 200);
    printf("moved\n");
    return 0;
}
