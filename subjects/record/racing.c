// Two threads write to one variable with no lock, and compete with atomic exchanges for another.
// Events: each thread writes `racy` 2,000 times; the exchanges of `token` form a chain: each takes the
// value that the one before it left, in the order of their sequence numbers.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static int racy, token;

static void *race(void *first) {
    for (int i = 1; i <= 2000; i++) {
        racy = (int)(intptr_t)first + i;
        __atomic_exchange_n(&token, (int)(intptr_t)first + i, __ATOMIC_RELAXED);
    }
    return NULL;
}

int main(void) {
    pthread_t thread[2];
    for (intptr_t i = 0; i < 2; i++) pthread_create(&thread[i], NULL, race, (void *)(10000 * i));
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    puts("raced");
    return 0;
}
