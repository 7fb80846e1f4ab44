// Two threads add to a total while they hold a lock.
// Bug: a thread that does not get the lock at once goes on without it.
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
        int got = omp_test_lock(&lock);
        total++;
        if (got)
            omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    assert(total == 2);
    return 0;
}
