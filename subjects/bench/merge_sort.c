// A recursive merge sort, one half a thread: deep calls, short functions, block copies.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t *data, *spare;
static long n;

static void merge(long from, long middle, long to) {
    long left = from, right = middle, at = from;
    while (left < middle && right < to)
        spare[at++] = data[left] <= data[right] ? data[left++] : data[right++];
    memcpy(&spare[at], &data[left], sizeof *data * (middle - left));
    memcpy(&spare[at + middle - left], &data[right], sizeof *data * (to - right));
    memcpy(&data[from], &spare[from], sizeof *data * (to - from));
}

static void sort(long from, long to) {
    if (to - from < 2) return;
    long middle = from + (to - from) / 2;
    sort(from, middle);
    sort(middle, to);
    merge(from, middle, to);
}

static void *work(void *half) {
    if (half) sort(n / 2, n);
    else sort(0, n / 2);
    return NULL;
}

int main(int argc, char **argv) {
    n = argc > 1 ? atol(argv[1]) : 1000000;
    data = malloc(sizeof *data * n);
    spare = malloc(sizeof *spare * n);
    uint32_t state = 2463534242u;
    for (long i = 0; i < n; i++) {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        data[i] = state;
    }
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    merge(0, n / 2, n);
    uint64_t sum = 0;
    for (long i = 0; i < n; i++) sum = sum * 31 + data[i];
    for (long i = 1; i < n; i++)
        if (data[i - 1] > data[i]) return 1;
    printf("%lu\n", (unsigned long)sum);
    return 0;
}
