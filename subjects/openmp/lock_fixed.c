// The twin of lock.c: two threads add to a total while they hold a lock.
// They release the lock after they have written.
// Finds: nothing harmful
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
        total = seen + 1;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    assert(total == 2);
    return 0;
}
