// The twin of task.c: a task and the thread that created it add to a total.
// The thread waits for the task before it adds.
// Finds: nothing harmful
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
#pragma omp taskwait
        total++;
    }
    assert(total == 2);
    return 0;
}
