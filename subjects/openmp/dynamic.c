// Threads take the chunks of a loop as they come, and count what they find.
// Bug: they count without protection.
// Finds: atomicity on found; assertion
// The twin is dynamic_fixed.c.
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>

static int found;

int main(void) {
#pragma omp parallel for schedule(dynamic, 2) num_threads(3)
    for (int i = 0; i < 12; i++)
        if (i % 4 == 3) {
            found++;
        }
    assert(found == 3);
    return 0;
}
