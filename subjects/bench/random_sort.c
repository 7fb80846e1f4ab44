// A quicksort of random 64-bit numbers, one half a thread: random branches, and values that no table
// of the last ones predicts but that the thread moves from place to place.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FEW 16

static uint64_t *data;
static long n;

static void insert_all(uint64_t *part, long count) {
    for (long i = 1; i < count; i++) {
        uint64_t value = part[i];
        long at = i;
        for (; at > 0 && part[at - 1] > value; at--) part[at] = part[at - 1];
        part[at] = value;
    }
}

static void sort(uint64_t *part, long count) {
    while (count > FEW) {
        uint64_t pivot = part[count / 2];
        long left = 0, right = count - 1;
        while (left <= right) {
            while (part[left] < pivot) left++;
            while (part[right] > pivot) right--;
            if (left > right) break;
            uint64_t other = part[left];
            part[left++] = part[right];
            part[right--] = other;
        }
        sort(part, right + 1);
        part += left, count -= left;
    }
    insert_all(part, count);
}

static void *work(void *half) {
    if (half) sort(data + n / 2, n - n / 2);
    else sort(data, n / 2);
    return NULL;
}

int main(int argc, char **argv) {
    n = argc > 1 ? atol(argv[1]) : 1000000;
    data = malloc(sizeof *data * n);
    uint64_t state = 88172645463325252u;
    for (long i = 0; i < n; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        data[i] = state;
    }
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    uint64_t sum = 0;
    for (long i = 0; i < n; i++) {
        if (i != 0 && i != n / 2 && data[i - 1] > data[i]) return 1;
        sum = sum * 31 + data[i];
    }
    printf("%lu\n", (unsigned long)sum);
    return 0;
}
