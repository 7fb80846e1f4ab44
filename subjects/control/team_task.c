// One thread of an OpenMP team uses what a task makes.
// Bug: it does not wait for the task.
// Consequence: assertion, nothing was made yet.
// The twin, team_task_fixed.c, never fails.
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
            made = 3; /* A1 */
        }
        int seen = made; /* B1 */
        used = seen;
    }
    printf("used: %d\n", used);
    assert(used == 3);
    return 0;
}
