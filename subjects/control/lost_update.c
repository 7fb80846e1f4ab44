// Two tellers count their customers in one counter, which nothing protects.
// Bug: `customers++` is a read and a write; an increment by the other between the two is lost.
// Consequence: assertion, the total is 1 instead of 2.
// The twin, lost_update_fixed.c, never fails.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static int customers;

static void *serve(void *unused) {
    customers++; /* A1 */
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
