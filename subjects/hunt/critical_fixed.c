// The twin of critical.c: two threads keep each other out of a critical section by a word that says
// who is in it. To see that nobody is, and to enter one's name, is one step.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int owner;
static atomic_int visits;

static void come_in(int me) {
    int nobody = 0;
    while (!atomic_compare_exchange_strong(&owner, &nobody, me)) {
        nobody = 0;
        sched_yield();
    }
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
