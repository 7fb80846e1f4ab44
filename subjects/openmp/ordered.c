// The iterations of a loop write their results in order.
// Bug: nothing makes them wait for each other.
// Finds: race on written, log; assertion
// The twin is ordered_fixed.c.
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>

static int log[6], written;

int main(void) {
#pragma omp parallel for ordered schedule(dynamic) num_threads(2)
    for (int i = 0; i < 6; i++) {
        int square = i * i;
        log[written++] = square;
    }
    for (int i = 0; i < 6; i++)
        assert(log[i] == i * i);
    return 0;
}
