// The iterations of a loop add to a sum.
// Bug: all threads add to the same variable.
// Finds: race on sum; assertion
// The twin is reduction_fixed.c.
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>

static int sum;

int main(void) {
#pragma omp parallel for num_threads(3)
    for (int i = 1; i <= 6; i++)
        sum += i;
    assert(sum == 21);
    return 0;
}
