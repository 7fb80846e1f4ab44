// The twin of team_total.c: the threads of an OpenMP team add to a total.
// They add in a critical section.
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>
#include <stdio.h>

static int total;

int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp critical
        total++;
    }
    int seen = total;
    printf("total: %d\n", seen);
    assert(seen == 2);
    return 0;
}
