// Two threads add to a total while they hold a lock.
// Bug: they release the lock before they write.
// Finds: race on total; assertion
// The twin is lock_fixed.c.
// Flags: -fopenmp
#undef NDEBUG
#include <assert.h>
#include <omp.h>

static omp_lock_t lock;
static int total;

int main(void) {
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    {
        omp_set_lock(&lock);
        int seen = total;
        omp_unset_lock(&lock);
        total = seen + 1;
    }
    omp_destroy_lock(&lock);
    assert(total == 2);
    return 0;
}
