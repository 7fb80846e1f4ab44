// A thread sorts numbers by `qsort` while another one reads them.
// Bug: nothing protects the numbers while libc moves them.
// Finds: race on numbers; assertion
// The twin is qsort_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int numbers[4] = {4, 3, 2, 1};

static int compare(const void *left, const void *right) { return *(const int *)left - *(const int *)right; }

static void *sort(void *argument) {
    qsort(numbers, 4, sizeof *numbers, compare);
    return argument;
}

int main(void) {
    pthread_t sorter;
    pthread_create(&sorter, NULL, sort, NULL);
    int sum = numbers[1] + numbers[2];
    pthread_join(sorter, NULL);
    assert(sum == 5);
    return 0;
}
