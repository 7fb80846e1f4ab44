// Two threads sort the halves of an array of random numbers and count without a lock. Argument: the
// approximate number of events.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t *numbers;
static long length;
static long sorted;

static void sort(uint64_t *from, long count) {
    while (count > 16) {
        uint64_t pivot = from[count / 2];
        long low = 0, high = count - 1;
        while (low <= high) {
            while (from[low] < pivot)
                low++;
            while (from[high] > pivot)
                high--;
            if (low <= high) {
                uint64_t swapped = from[low];
                from[low++] = from[high];
                from[high--] = swapped;
            }
        }
        sort(from, high + 1);
        from += low;
        count -= low;
    }
    for (long at = 1; at < count; at++) {
        uint64_t moved = from[at];
        long to = at;
        for (; to > 0 && from[to - 1] > moved; to--)
            from[to] = from[to - 1];
        from[to] = moved;
    }
}

static void *half(void *arg) {
    sort(arg, length / 2);
    sorted++;
    return NULL;
}

int main(int argc, char **argv) {
    // About forty events for each number at these sizes.
    length = atol(argc > 1 ? argv[1] : "100000") / 40 / 2 * 2 + 2;
    numbers = malloc((size_t)length * sizeof *numbers);
    uint64_t seed = 1;
    for (long at = 0; at < length; at++)
        numbers[at] = seed = seed * 6364136223846793005u + 1442695040888963407u;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, half, numbers);
    pthread_create(&threads[1], NULL, half, numbers + length / 2);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%d\n", sorted > 0);
    free(numbers);
    return 0;
}
