// The twin of shop.c: a supplier fills the shelf of a shop, and a customer buys. The customer waits
// for the supplier.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t delivered;
static int shelf;
static int sold;

static void *supplier(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    shelf += 2;
    pthread_mutex_unlock(&lock);
    sem_post(&delivered);
    return NULL;
}

static void *customer(void *unused) {
    (void)unused;
    sem_wait(&delivered);
    pthread_mutex_lock(&lock);
    assert(shelf > 0);
    shelf--;
    sold++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    sem_init(&delivered, 0, 0);
    if (pthread_create(&threads[0], NULL, supplier, NULL) != 0) return 2;
    if (pthread_create(&threads[1], NULL, customer, NULL) != 0) return 2;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("sold: %d, left: %d\n", sold, shelf);
    return 0;
}
