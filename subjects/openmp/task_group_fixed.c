// The twin of task_group.c: a task creates another one, whose result is used.
// The tasks are a group, and the end of a group waits for all of them.
// Finds: nothing harmful
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>

static int depth, result;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task
            {
#pragma omp task
                depth = 2;
            }
        }
        result = depth;
    }
    assert(result == 2);
    return 0;
}
