// The twin of sections.c: one section computes a number that another step uses.
// The other step is a section of the next construct: all threads wait at the end of the first one.
// Finds: nothing harmful
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>

static int first, second;

int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp sections
        {
#pragma omp section
            first = 5;
        }
#pragma omp sections
        {
#pragma omp section
            second = first + 1;
        }
    }
    assert(second == 6);
    return 0;
}
