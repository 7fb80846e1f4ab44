// Several tasks add to a total.
// Bug: they add without protection.
// Finds: race on total; assertion
// The twin is task_total_fixed.c.
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>

static int total;

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
    for (int i = 0; i < 4; i++) {
#pragma omp task
        {
            total++;
        }
    }
    assert(total == 4);
    return 0;
}
