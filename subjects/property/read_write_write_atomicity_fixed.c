// As read_write_write_atomicity.c; a lock makes it so.
//
// Property: read-write-write-atomicity
// Breaks: nothing
#include <assert.h>
#include <pthread.h>

#include "norn.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int balance;

static void *deposit(void *unused)
{
    NORN_ATOMIC {
        pthread_mutex_lock(&lock);
        int before = balance;
        balance = before + 10;
        pthread_mutex_unlock(&lock);
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
