// Two threads keep each other out of a critical section by a word that says who is in it.
// Bug: that nobody is in it is seen first, and the name entered afterwards: both can come in.
// Finds: atomicity on owner; assertion
// The twin is critical_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int owner;
static atomic_int visits;

static void come_in(int me) {
    while (atomic_load(&owner) != 0) sched_yield();
    atomic_store(&owner, me);
}

static void leave(int me) {
    assert(atomic_load(&owner) == me);
    atomic_store(&owner, 0);
}

static void *visitor(void *argument) {
    int me = *(int *)argument;
    come_in(me);
    atomic_fetch_add(&visits, 1);
    leave(me);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int names[2] = { 1, 2 };
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, visitor, &names[i]) != 0) return 2;
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("visits: %d\n", atomic_load(&visits));
    return 0;
}
