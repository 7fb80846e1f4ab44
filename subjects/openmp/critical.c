// The threads of a team add to a total in a critical region, and count their rounds.
// Bug: they count outside of the region, so that a round may be lost.
// Finds: race on rounds; assertion
// The twin is critical_fixed.c.
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>

static int total, rounds;

int main(void) {
#pragma omp parallel num_threads(3)
    {
#pragma omp critical
        total++;
        rounds++;
    }
    assert(total == 3 && rounds == 3);
    return 0;
}
