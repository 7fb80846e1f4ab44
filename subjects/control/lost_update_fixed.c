// The twin of lost_update.c: two tellers count their customers in one counter, under a mutex. No
// increment can come between the read and the write of another: it never fails.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int customers;

static void *serve(void *unused) {
    pthread_mutex_lock(&lock);
    customers++; /* A1 */
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t tellers[2];
    for (int i = 0; i < 2; i++) {
        int result = pthread_create(&tellers[i], NULL, serve, NULL);
        assert(result == 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(tellers[i], NULL);
    }
    int total = customers;
    printf("customers: %d\n", total);
    assert(total == 2);
    return 0;
}
