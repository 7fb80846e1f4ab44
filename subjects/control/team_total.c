// The threads of an OpenMP team add to a total.
// Bug: they add without protection.
// Consequence: assertion, the total is 1 instead of 2.
// The twin, team_total_fixed.c, never fails.
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>
#include <stdio.h>

static int total;

int main(void) {
#pragma omp parallel num_threads(2)
    {
        total++; /* A1 */
    }
    int seen = total;
    printf("total: %d\n", seen);
    assert(seen == 2);
    return 0;
}
