// The twin of task_total.c: several tasks add to a total.
// They add by atomic operations.
// Finds: nothing harmful
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
#pragma omp atomic
            total++;
        }
    }
    assert(total == 4);
    return 0;
}
