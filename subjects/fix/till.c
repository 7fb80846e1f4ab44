// A clerk and a cashier add to the same total, each under a lock of its own.
// Bug: nothing excludes that they do so at the same time, and an amount is lost.
// Both locks could protect the total. The clerk takes the lock of the till while he holds that of the
// books, so a cashier who took them the other way round would make a deadlock possible.
// Finds: race on total; assertion
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t till = PTHREAD_MUTEX_INITIALIZER;
static long total;
static long entries;

static void *clerk(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&books);
        total += 10;
        pthread_mutex_lock(&till);
        entries += 1;
        pthread_mutex_unlock(&till);
        pthread_mutex_unlock(&books);
    }
    return NULL;
}

static void *cashier(void *unused) {
    (void)unused;
    pthread_mutex_lock(&till);
    entries += 1;
    total += 20;
    pthread_mutex_unlock(&till);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, clerk, NULL) != 0) return 2;
    if (pthread_create(&threads[1], NULL, cashier, NULL) != 0) return 2;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%ld in %ld entries\n", total, entries);
    assert(total == 40);
    return 0;
}
