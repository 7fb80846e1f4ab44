// Two tasks compute the parts of a sum.
// Bug: the thread that created them does not wait for them.
// Finds: race on left, right; assertion
// The twin is task_fixed.c.
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>

static int left, right, sum;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        left = 3;
#pragma omp task
        right = 4;
        sum = left + right;
    }
    assert(sum == 7);
    return 0;
}
