// The twin of reduction.c: the iterations of a loop add to a sum.
// The sum is a reduction: each thread has a part of it, which is added at the end.
// Finds: nothing harmful
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>

static int sum;

int main(void) {
#pragma omp parallel for num_threads(3) reduction(+ : sum)
    for (int i = 1; i <= 6; i++)
        sum += i;
    assert(sum == 21);
    return 0;
}
