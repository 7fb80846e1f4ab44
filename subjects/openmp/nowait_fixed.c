// The twin of nowait.c: the threads of a team compute an array, and copy it in a second loop.
// The second loop begins when the first one has ended.
// Finds: nothing harmful
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>

static int data[8], copy[8];

int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(static)
        for (int i = 0; i < 8; i++)
            data[i] = i;
#pragma omp for schedule(static)
        for (int i = 0; i < 8; i++)
            copy[i] = data[7 - i];
    }
    for (int i = 0; i < 8; i++)
        assert(copy[i] == 7 - i);
    return 0;
}
