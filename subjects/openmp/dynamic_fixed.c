// The twin of dynamic.c: threads take the chunks of a loop as they come, and count what they find.
// They count in a critical region.
// Finds: nothing harmful
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>

static int found;

int main(void) {
#pragma omp parallel for schedule(dynamic, 2) num_threads(3)
    for (int i = 0; i < 12; i++)
        if (i % 4 == 3) {
#pragma omp critical
            found++;
        }
    assert(found == 3);
    return 0;
}
