// Two threads add to a total while they hold a lock that they acquire twice.
// Bug: they release the lock twice before they write.
// Finds: race on total; assertion
// The twin is nest_lock_fixed.c.
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>
#include <omp.h>

static omp_nest_lock_t lock;
static int total;

int main(void) {
    omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(2)
    {
        omp_set_nest_lock(&lock);
        omp_set_nest_lock(&lock);
        int seen = total;
        omp_unset_nest_lock(&lock);
        omp_unset_nest_lock(&lock);
        total = seen + 1;
    }
    omp_destroy_nest_lock(&lock);
    assert(total == 2);
    return 0;
}
