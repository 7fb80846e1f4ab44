// An account may be overdrawn up to a limit, which the bank lowers if the account is not overdrawn.
// Bug (two atomicity violations): both a withdrawal and the lowering check in one critical section and
// act in the next one. A withdrawal checks the limit again; the bank does not check the balance again.
// Deep: the account must be overdrawn by two withdrawals at the same time, while the limit is lowered.
// Consequence: assertion
// The twin is overdraft_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    int balance, limit;
};

static struct account account = { PTHREAD_MUTEX_INITIALIZER, 100, 50 };

static int balance(void) {
    pthread_mutex_lock(&account.lock);
    int it = account.balance;
    pthread_mutex_unlock(&account.lock);
    return it;
}

static int withdraw(int amount) {
    int paid = 0;
    if (balance() < amount) return 0;
    pthread_mutex_lock(&account.lock);
    if (account.balance - amount >= -account.limit) {
        account.balance -= amount;
        paid = amount;
    }
    pthread_mutex_unlock(&account.lock);
    return paid;
}

static void *withdraw_much(void *unused) {
    withdraw(80);
    return unused;
}

static void *withdraw_little(void *unused) {
    withdraw(60);
    return unused;
}

static void *lower_limit(void *unused) {
    if (balance() < 0) return unused;
    pthread_mutex_lock(&account.lock);
#ifdef FIXED
    if (account.balance >= 0) account.limit = 0;
#else
    account.limit = 0;
#endif
    pthread_mutex_unlock(&account.lock);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, withdraw_much, NULL);
    pthread_create(&threads[1], NULL, withdraw_little, NULL);
    pthread_create(&threads[2], NULL, lower_limit, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("limit %d\n", account.limit);
    assert(account.balance >= -account.limit);
    return 0;
}
