// A baker bakes a loaf; a buyer takes one if the semaphore says that there is one. T0 waits at
// another semaphore until both are done.
// Bug: the baker posts the semaphore before the loaf is on the shelf.
// Consequence: assertion, the buyer finds an empty shelf.
// The twin, sem_order_fixed.c, never fails.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t loaves, done;
static int shelf, bought;

static void *bake(void *unused) {
    sem_post(&loaves); /* A1 */
    shelf = 1;         /* A2 */
    sem_post(&done);
    return unused;
}

static void *buy(void *unused) {
    int result = sem_trywait(&loaves); /* B1 */
    if (result == 0) {
        int found = shelf; /* B2 */
        bought = 1;
        assert(found == 1);
    }
    sem_post(&done);
    return unused;
}

int main(void) {
    pthread_t baker, buyer;
    if (sem_init(&loaves, 0, 0) != 0 || sem_init(&done, 0, 0) != 0) return 2;
    if (pthread_create(&baker, NULL, bake, NULL) != 0) return 2;
    if (pthread_create(&buyer, NULL, buy, NULL) != 0) return 2;
    for (int i = 0; i < 2; i++) sem_wait(&done);
    pthread_join(baker, NULL);
    pthread_join(buyer, NULL);
    sem_destroy(&loaves);
    sem_destroy(&done);
    printf("bought: %d\n", bought);
    return 0;
}
