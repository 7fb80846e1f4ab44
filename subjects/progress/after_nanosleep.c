// Two threads sleep, then add to an account.
// Bug: a deposit is lost if both read the balance before one of them has written it.
// Finds: race on balance; assertion
// The twin is after_nanosleep_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static void *deposit(void *argument) {
    struct timespec pause = { .tv_nsec = 50000 };
    nanosleep(&pause, NULL);
    int before = balance;
    balance = before + 1;
    return argument;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, deposit, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&lock);
    assert(balance == 2);
    return 0;
}
