// The twin of qsort.c: a thread sorts numbers by `qsort` while another one reads them.
// A lock protects the numbers.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int numbers[4] = {4, 3, 2, 1};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int compare(const void *left, const void *right) { return *(const int *)left - *(const int *)right; }

static void *sort(void *argument) {
    pthread_mutex_lock(&lock);
    qsort(numbers, 4, sizeof *numbers, compare);
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_t sorter;
    pthread_create(&sorter, NULL, sort, NULL);
    pthread_mutex_lock(&lock);
    int sum = numbers[1] + numbers[2];
    pthread_mutex_unlock(&lock);
    pthread_join(sorter, NULL);
    assert(sum == 5);
    return 0;
}
