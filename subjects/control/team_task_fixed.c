// The twin of team_task.c: one thread of an OpenMP team uses what a task makes.
// It waits for the task.
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>
#include <stdio.h>

static int made, used;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        {
            made = 3;
        }
#pragma omp taskwait
        int seen = made;
        used = seen;
    }
    printf("used: %d\n", used);
    assert(used == 3);
    return 0;
}
