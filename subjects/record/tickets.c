// Four threads take 25,000 numbers each from an atomic counter.
// Events: in the order of their sequence numbers, the values before the additions are 0 to 99,999.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_uint next;

static void *take(void *unused) {
    for (int i = 0; i < 25000; i++) atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    return unused;
}

int main(void) {
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, take, NULL);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    printf("%u\n", next);
    return 0;
}
