// One section computes a number that another step uses.
// Bug: the other step is a section, too, which may come first.
// Finds: race on first; assertion
// The twin is sections_fixed.c.
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
#pragma omp section
            second = first + 1;
        }
    }
    assert(second == 6);
    return 0;
}
