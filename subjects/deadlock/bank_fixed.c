// The twin of bank.c: two clerks transfer money between four accounts.
// A transfer locks the account with the smaller number first.
// Finds: nothing harmful
#include <pthread.h>
#include <stdio.h>

enum { ACCOUNTS = 4, TRANSFERS = 6 };

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account accounts[ACCOUNTS];

static void transfer(int from, int to, long amount) {
    pthread_mutex_lock(&accounts[from < to ? from : to].lock);
    pthread_mutex_lock(&accounts[from < to ? to : from].lock);
    accounts[from].balance -= amount;
    accounts[to].balance += amount;
    pthread_mutex_unlock(&accounts[to].lock);
    pthread_mutex_unlock(&accounts[from].lock);
}

static void *clerk(void *number) {
    long id = (long)number;
    for (int i = 0; i < TRANSFERS; i++) {
        int from = (int)(id * 3 + i) % ACCOUNTS;
        int to = (int)(from + 1 + 2 * id) % ACCOUNTS;
        transfer(from, to, 10);
    }
    return NULL;
}

int main(void) {
    pthread_t clerks[2];
    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_init(&accounts[i].lock, NULL);
        accounts[i].balance = 100;
    }
    for (long i = 0; i < 2; i++)
        if (pthread_create(&clerks[i], NULL, clerk, (void *)i) != 0) return 2;
    for (int i = 0; i < 2; i++) pthread_join(clerks[i], NULL);
    long sum = 0;
    for (int i = 0; i < ACCOUNTS; i++) sum += accounts[i].balance;
    printf("sum: %ld\n", sum);
    return 0;
}
