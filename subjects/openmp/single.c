// One thread sets a limit that all threads use.
// Bug: the others do not wait for it.
// Finds: race on limit; assertion
// The twin is single_fixed.c.
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>
#include <omp.h>

static int limit, reached[3];

int main(void) {
#pragma omp parallel num_threads(3)
    {
#pragma omp single nowait
        limit = 7;
        reached[omp_get_thread_num()] = limit;
    }
    assert(reached[0] + reached[1] + reached[2] == 21);
    return 0;
}
