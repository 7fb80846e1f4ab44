// The twin of critical.c: the threads of a team add to a total in a critical region, and count
// their rounds.
// They count in a critical region of another name, which only one thread at a time is in.
// Finds: nothing harmful
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>

static int total, rounds;

int main(void) {
#pragma omp parallel num_threads(3)
    {
#pragma omp critical
        total++;
        {
#pragma omp critical(rounds)
            rounds++;
        }
    }
    assert(total == 3 && rounds == 3);
    return 0;
}
