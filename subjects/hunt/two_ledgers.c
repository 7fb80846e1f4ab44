// A shop keeps its stock in two ledgers. A sale subtracts from both; an audit takes the smaller stock, and
// tolerates that one ledger lags behind.
// Bug (atomicity violations): both ledgers are read and written in separate critical sections. One lost
// update is tolerated; two are not.
// Finds: atomicity on first_stock, second_stock; assertion
// The twin is two_ledgers_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static int first_stock = 10, second_stock = 10;

static int look(pthread_mutex_t *lock, int *stock) {
    pthread_mutex_lock(lock);
    int seen = *stock;
    pthread_mutex_unlock(lock);
    return seen;
}

static void set(pthread_mutex_t *lock, int *stock, int value) {
    pthread_mutex_lock(lock);
    *stock = value;
    pthread_mutex_unlock(lock);
}

static void sell_first(int number) {
#ifdef FIXED
    pthread_mutex_lock(&first_lock);
    first_stock -= number;
    pthread_mutex_unlock(&first_lock);
#else
    int seen = look(&first_lock, &first_stock);
    set(&first_lock, &first_stock, seen - number);
#endif
}

static void sell_second(int number) {
#ifdef FIXED
    pthread_mutex_lock(&second_lock);
    second_stock -= number;
    pthread_mutex_unlock(&second_lock);
#else
    int seen = look(&second_lock, &second_stock);
    set(&second_lock, &second_stock, seen - number);
#endif
}

static void *sell(void *number) {
    sell_first(*(int *)number);
    sell_second(*(int *)number);
    return NULL;
}

int main(void) {
    pthread_t counter, online;
    int at_counter = 2, at_online = 3;
    pthread_create(&counter, NULL, sell, &at_counter);
    pthread_create(&online, NULL, sell, &at_online);
    pthread_join(counter, NULL);
    pthread_join(online, NULL);
    int stock = first_stock < second_stock ? first_stock : second_stock;
    printf("sold\n");
    assert(stock == 5);
    return 0;
}
