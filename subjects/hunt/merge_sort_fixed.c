// The twin of merge_sort.c: two threads sort the halves of an array by merging; there is scratch
// memory for one of them, and who gets none makes do with a slower way. It is looked up and taken
// in one critical section.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 8, HALF = SIZE / 2 };

static int numbers[SIZE] = { 5, 3, 8, 1, 7, 2, 6, 4 };
static int spare = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int take_scratch(void) {
    pthread_mutex_lock(&lock);
    int taken = spare > 0;
    if (taken) {
        spare--;
        assert(spare >= 0);
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

static void give_scratch(void) {
    pthread_mutex_lock(&lock);
    spare++;
    pthread_mutex_unlock(&lock);
}

static void insert_all(int *from, int count) {
    for (int i = 1; i < count; i++) {
        for (int j = i; j > 0 && from[j - 1] > from[j]; j--) {
            int larger = from[j - 1];
            from[j - 1] = from[j];
            from[j] = larger;
        }
    }
}

static void merge(int *from, int count, int *scratch) {
    if (count < 2) return;
    int left = 0, middle = count / 2, right = middle;
    merge(from, middle, scratch);
    merge(from + middle, count - middle, scratch);
    for (int i = 0; i < count; i++) {
        int is_left = right == count || (left < middle && from[left] <= from[right]);
        scratch[i] = is_left ? from[left++] : from[right++];
    }
    memcpy(from, scratch, (size_t)count * sizeof *from);
}

static void *sort(void *half) {
    int scratch[HALF];
    if (take_scratch()) {
        merge(half, HALF, scratch);
        give_scratch();
    } else {
        insert_all(half, HALF);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int scratch[SIZE];
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, sort, numbers + i * HALF) != 0) return 2;
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    merge(numbers, SIZE, scratch);
    for (int i = 0; i < SIZE; i++) assert(numbers[i] == i + 1);
    printf("sorted, spare: %d\n", spare);
    return 0;
}
