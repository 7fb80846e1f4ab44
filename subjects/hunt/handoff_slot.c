// A clerk hands a form to a counter: it takes the number of the open counter, says that it comes, and
// leaves the form there. The manager closes the counter, unless a clerk has said that it comes.
// Bug (atomic-set violation): the clerk does not check the counter again after it has said that it comes.
// If the clerk continues right after it has said so, all is well: the manager must count first.
// Finds: atomic-set on coming; assertion
// The twin is handoff_slot_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int counter_open = 1;
static atomic_int coming;
static atomic_int forms;
static int taken, left_over;

static void *hand_in(void *unused) {
    if (atomic_load(&counter_open)) {
        atomic_store(&coming, 1);
#ifdef FIXED
        if (!atomic_load(&counter_open)) {
            atomic_store(&coming, 0);
            left_over = 1;
            return unused;
        }
#endif
        atomic_fetch_add(&forms, 1);
        atomic_store(&coming, 0);
    } else {
        left_over = 1;
    }
    return unused;
}

static void *close_counter(void *unused) {
    atomic_store(&counter_open, 0);
    while (atomic_load(&coming)) sched_yield();
    taken = atomic_exchange(&forms, 0);
    return unused;
}

int main(void) {
    pthread_t clerk, manager;
    pthread_create(&clerk, NULL, hand_in, NULL);
    pthread_create(&manager, NULL, close_counter, NULL);
    pthread_join(clerk, NULL);
    pthread_join(manager, NULL);
    printf("%d\n", taken + left_over);
    assert(taken + left_over == 1);
    return 0;
}
