// The twin of single.c: one thread sets a limit that all threads use.
// The others wait at the end of the region.
// Finds: nothing harmful
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>
#include <omp.h>

static int limit, reached[3];

int main(void) {
#pragma omp parallel num_threads(3)
    {
#pragma omp single
        limit = 7;
        reached[omp_get_thread_num()] = limit;
    }
    assert(reached[0] + reached[1] + reached[2] == 21);
    return 0;
}
