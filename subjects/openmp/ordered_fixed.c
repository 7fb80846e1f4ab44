// The twin of ordered.c: the iterations of a loop write their results in order.
// They write in an ordered region.
// Finds: nothing harmful
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>

static int log[6], written;

int main(void) {
#pragma omp parallel for ordered schedule(dynamic) num_threads(2)
    for (int i = 0; i < 6; i++) {
        int square = i * i;
#pragma omp ordered
        log[written++] = square;
    }
    for (int i = 0; i < 6; i++)
        assert(log[i] == i * i);
    return 0;
}
