// The twin of shop.c: customers buy what a supplier brings. To look into the shelf and to take
// something out of it is one critical section.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shelf = 1;
static int sold;

static void *supplier(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    shelf++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *customer(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int there = shelf > 0;
    if (there) {
        assert(shelf > 0);
        shelf--;
        sold++;
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    if (pthread_create(&threads[0], NULL, customer, NULL) != 0) return 2;
    if (pthread_create(&threads[1], NULL, supplier, NULL) != 0) return 2;
    if (pthread_create(&threads[2], NULL, customer, NULL) != 0) return 2;
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("sold: %d, left: %d\n", sold, shelf);
    return 0;
}
