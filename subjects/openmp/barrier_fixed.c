// The twin of barrier.c: each of two threads computes its part and then adds both.
// They meet at a barrier before they add.
// Finds: nothing harmful
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
#pragma omp barrier
        sum[me] = part[0] + part[1];
    }
    assert(sum[0] == 21 && sum[1] == 21);
    return 0;
}
