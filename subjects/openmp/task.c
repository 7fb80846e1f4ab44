// A task and the thread that created it add to a total.
// Bug: the thread does not wait for the task.
// Finds: race on total; assertion
// The twin is task_fixed.c.
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>

static int total;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        total++;
        total++;
    }
    assert(total == 2);
    return 0;
}
