// Clerks transfer money between the branches of a bank while an auditor adds up all balances.
// Bug (atomic-set violation): the auditor locks one branch after the other, so that a transfer in
// between is counted twice or not at all.
// Consequence: assertion
// The twin is branch_audit_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { BRANCHES = 3, EACH = 100 };

struct branch {
    pthread_mutex_t lock;
    long balance;
};

static struct branch branches[BRANCHES] = {
    { PTHREAD_MUTEX_INITIALIZER, EACH },
    { PTHREAD_MUTEX_INITIALIZER, EACH },
    { PTHREAD_MUTEX_INITIALIZER, EACH },
};

static void transfer(int from, int to, long amount) {
    int first = from < to ? from : to;
    int second = from < to ? to : from;
    pthread_mutex_lock(&branches[first].lock);
    pthread_mutex_lock(&branches[second].lock);
    branches[from].balance -= amount;
    branches[to].balance += amount;
    pthread_mutex_unlock(&branches[second].lock);
    pthread_mutex_unlock(&branches[first].lock);
}

static void *clerk(void *unused) {
    transfer(0, 2, 30);
    transfer(1, 0, 5);
    return unused;
}

static void *audit(void *argument) {
    long total = 0;
#ifdef FIXED
    for (int i = 0; i < BRANCHES; i++) pthread_mutex_lock(&branches[i].lock);
    for (int i = 0; i < BRANCHES; i++) total += branches[i].balance;
    for (int i = BRANCHES - 1; i >= 0; i--) pthread_mutex_unlock(&branches[i].lock);
#else
    for (int i = 0; i < BRANCHES; i++) {
        pthread_mutex_lock(&branches[i].lock);
        total += branches[i].balance;
        pthread_mutex_unlock(&branches[i].lock);
    }
#endif
    *(long *)argument = total;
    return NULL;
}

int main(void) {
    pthread_t one, two;
    long total = 0;
    pthread_create(&one, NULL, clerk, NULL);
    pthread_create(&two, NULL, audit, &total);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("total %ld\n", total);
    assert(total == BRANCHES * EACH);
    return 0;
}
