// A histogram without locks: threads take blocks of work from a shared cursor and count into
// shared bins. Atomic operations of every kind, between plain reads.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BINS 256
#define BLOCK 1024

static uint32_t *input;
static long n;
static atomic_long cursor;
static atomic_uint bins[BINS];
static _Atomic uint32_t largest;

static void keep_largest(uint32_t value) {
    uint32_t seen = atomic_load_explicit(&largest, memory_order_relaxed);
    while (seen < value && !atomic_compare_exchange_weak(&largest, &seen, value)) {}
}

static void *work(void *unused) {
    long from;
    while ((from = atomic_fetch_add(&cursor, BLOCK)) < n) {
        long to = from + BLOCK < n ? from + BLOCK : n;
        for (long i = from; i < to; i++) {
            keep_largest(input[i]);
            atomic_fetch_add_explicit(&bins[input[i] >> 24], 1, memory_order_relaxed);
        }
    }
    return unused;
}

int main(int argc, char **argv) {
    n = argc > 1 ? atol(argv[1]) : 2000000;
    input = malloc(sizeof *input * n);
    uint32_t state = 2463534242u;
    for (long i = 0; i < n; i++) {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        input[i] = state;
    }
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    uint64_t sum = largest;
    for (int i = 0; i < BINS; i++) sum = sum * 31 + bins[i];
    printf("%lu\n", (unsigned long)sum);
    return 0;
}
