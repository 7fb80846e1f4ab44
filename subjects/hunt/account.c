// Two clerks transfer money between two accounts, in opposite directions.
// Bug: a transfer takes the lock of the account that pays, and changes the other one without its
// lock. A payment can be lost.
// Finds: race on accounts; assertion
// The twin is account_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account accounts[2] = {
    { PTHREAD_MUTEX_INITIALIZER, 100 },
    { PTHREAD_MUTEX_INITIALIZER, 100 },
};

static void transfer(struct account *from, struct account *to, long amount) {
    pthread_mutex_lock(&from->lock);
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&from->lock);
}

static void *forth(void *unused) {
    (void)unused;
    transfer(&accounts[0], &accounts[1], 10);
    return NULL;
}

static void *back(void *unused) {
    (void)unused;
    transfer(&accounts[1], &accounts[0], 20);
    return NULL;
}

int main(void) {
    pthread_t clerks[2];
    if (pthread_create(&clerks[0], NULL, forth, NULL) != 0) return 2;
    if (pthread_create(&clerks[1], NULL, back, NULL) != 0) return 2;
    for (int i = 0; i < 2; i++) pthread_join(clerks[i], NULL);
    printf("balances: %ld, %ld\n", accounts[0].balance, accounts[1].balance);
    assert(accounts[0].balance + accounts[1].balance == 200);
    return 0;
}
