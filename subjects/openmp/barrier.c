// Each of two threads computes its part and then adds both.
// Bug: a thread may add before the other one has computed its part.
// Finds: race on part; assertion
// The twin is barrier_fixed.c.
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>
#include <omp.h>

static int part[2], sum[2];

int main(void) {
#pragma omp parallel num_threads(2)
    {
        int me = omp_get_thread_num();
        part[me] = 10 + me;
        sum[me] = part[0] + part[1];
    }
    assert(sum[0] == 21 && sum[1] == 21);
    return 0;
}
