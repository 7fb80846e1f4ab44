// The twin of check_then_act.c: two customers, T0 and T0.1, want 70 each of an account that holds
// 100. The check and the payment are one critical section: the balance never falls below zero, it
// never fails.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance;
static int refused;

static void deposit(long amount) {
    pthread_mutex_lock(&lock);
    balance += amount;
    pthread_mutex_unlock(&lock);
}

static void *withdraw(void *argument) {
    long amount = *(long *)argument;
    pthread_mutex_lock(&lock); /* A1 */
    int enough = balance >= amount;
    if (enough) {
        balance -= amount; /* A2 */
        assert(balance >= 0);
    } else {
        refused++;
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t other;
    long amount = 70;
    deposit(100);
    if (pthread_create(&other, NULL, withdraw, &amount) != 0) return 2;
    withdraw(&amount);
    pthread_join(other, NULL);
    printf("balance: %ld, refused: %d\n", balance, refused);
    return 0;
}
