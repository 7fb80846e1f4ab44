// Two threads sort the halves of an array, and a third one merges them.
// Bug: nothing makes the third wait for the other two; it can merge halves that are not sorted.
// Finds: order on numbers; assertion
// The twin is merge_sort_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 4, HALF = SIZE / 2 };

static int numbers[SIZE] = { 3, 1, 4, 2 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t sorters[2];

static void *sort(void *argument) {
    int *half = argument;
    pthread_mutex_lock(&lock);
    if (half[0] > half[1]) {
        int larger = half[0];
        half[0] = half[1];
        half[1] = larger;
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *merge(void *unused) {
    (void)unused;
    int merged[SIZE], left = 0, right = HALF;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SIZE; i++) {
        int is_left = right == SIZE || (left < HALF && numbers[left] <= numbers[right]);
        merged[i] = is_left ? numbers[left++] : numbers[right++];
    }
    memcpy(numbers, merged, sizeof numbers);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t merger;
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&sorters[i], NULL, sort, numbers + i * HALF) != 0) return 2;
    }
    if (pthread_create(&merger, NULL, merge, NULL) != 0) return 2;
    for (int i = 0; i < 2; i++) pthread_join(sorters[i], NULL);
    pthread_join(merger, NULL);
    for (int i = 0; i < SIZE; i++) assert(numbers[i] == i + 1);
    printf("sorted\n");
    return 0;
}
