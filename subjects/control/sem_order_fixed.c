// The twin of sem_order.c: the loaf is on the shelf before the semaphore is posted. A buyer who is
// told that there is one finds it: it never fails.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t loaves, done;
static int shelf, bought;

static void *bake(void *unused) {
    shelf = 1;         /* A1 */
    sem_post(&loaves); /* A2 */
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
