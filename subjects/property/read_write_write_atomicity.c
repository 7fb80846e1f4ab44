// Two deposits, each meant to be atomic.
//
// Property: read-write-write-atomicity
// Breaks: ReadWriteWriteAtomicity; assertion
#include <assert.h>
#include <pthread.h>

#include "norn.h"

static volatile int balance;

static void *deposit(void *unused)
{
    NORN_ATOMIC {
        int before = balance;
        balance = before + 10;
    }
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, deposit, NULL);
    pthread_create(&other, NULL, deposit, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(balance == 20);
    return 0;
}
