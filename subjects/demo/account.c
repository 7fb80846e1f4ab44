// Two clerks pay into one account. Each reads the balance under the lock, and writes it under the
// lock, but lets go of it in between: a payment can be lost.
#include <pthread.h>
#include <stdio.h>

struct account {
    int number;
    long balance;
};

static struct account account = { 7, 100 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long read_balance(void) {
    pthread_mutex_lock(&lock);
    long balance = account.balance;
    pthread_mutex_unlock(&lock);
    return balance;
}

static void write_balance(long balance) {
    pthread_mutex_lock(&lock);
    account.balance = balance;
    pthread_mutex_unlock(&lock);
}

static void *pay_in(void *amount) {
    long balance = read_balance();
    write_balance(balance + (long)amount);
    return NULL;
}

int main(void) {
    pthread_t clerks[2];
    pthread_create(&clerks[0], NULL, pay_in, (void *)10);
    pthread_create(&clerks[1], NULL, pay_in, (void *)20);
    for (int i = 0; i < 2; i++) pthread_join(clerks[i], NULL);
    printf("balance: %ld\n", account.balance);
    return account.balance != 130;
}
