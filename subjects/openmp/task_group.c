// A task creates another one, whose result is used.
// Bug: the first thread waits only for the task that it created itself.
// Finds: race on depth; assertion
// The twin is task_group_fixed.c.
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>

static int depth, result;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        {
#pragma omp task
            depth = 2;
        }
#pragma omp taskwait
        result = depth;
    }
    assert(result == 2);
    return 0;
}
