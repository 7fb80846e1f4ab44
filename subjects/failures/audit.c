// Clerks move money between accounts and pay some in; an auditor adds the accounts up and notes how much the
// sum differs from the total. The notes are looked at in the end.
// Bug: a transfer is two critical sections, so that money is missing in between. No failure depends on what the
// auditor reads in a few steps, since the notes are in memory; that the total is the sum of the accounts holds in
// all correct runs.
// Finds: atomicity on accounts, total; exit
// The twin is audit_fixed.c.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ACCOUNTS = 3, ROUNDS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int accounts[ACCOUNTS] = {10, 10, 10};
static int total = 30;
static int *notes;

static void add(int account, int amount) {
    accounts[account] += amount;
}

static void *transfer(void *unused) {
    pthread_mutex_lock(&lock);
    add(0, -5);
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    add(2, 5);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *pay_in(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&lock);
        add(1, 7);
        total += 7;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *audit(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        int sum = 0;
        pthread_mutex_lock(&lock);
        for (int account = 0; account < ACCOUNTS; account++) sum += accounts[account];
        notes[round] = sum - total;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    void *(*work[])(void *) = {transfer, pay_in, audit};
    pthread_t threads[3];
    notes = calloc(ROUNDS, sizeof *notes);
    if (notes == NULL) return 2;
    for (int at = 0; at < 3; at++) pthread_create(&threads[at], NULL, work[at], NULL);
    for (int at = 0; at < 3; at++) pthread_join(threads[at], NULL);
    int wrong = 0;
    for (int round = 0; round < ROUNDS; round++) wrong += notes[round] != 0;
    free(notes);
    if (wrong > 0) {
        fprintf(stderr, "%d audits were wrong\n", wrong);
        exit(1);
    }
    printf("done\n");
    return 0;
}
