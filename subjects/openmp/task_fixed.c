// The twin of task.c: two tasks compute the parts of a sum.
// The thread that created them waits for them.
// Finds: nothing harmful
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
#pragma omp taskwait
        sum = left + right;
    }
    assert(sum == 7);
    return 0;
}
