// The twin of nest_lock.c: two threads add to a total while they hold a lock that they acquire
// twice.
// They release the lock only once before they write.
// Finds: nothing harmful
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
        total = seen + 1;
        omp_unset_nest_lock(&lock);
    }
    omp_destroy_nest_lock(&lock);
    assert(total == 2);
    return 0;
}
