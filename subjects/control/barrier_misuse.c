// Two people may use a room at any time; who finds the other there meets them before going on.
// Bug: the barrier counts two, but only who comes second knows that there are two. Who found the
// room empty does not come to the barrier.
// Consequence: hang, the second waits at the barrier for ever. If they do not overlap, or if both
// are in before either looks, all is well.
// The twin, barrier_misuse_fixed.c, never fails.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_barrier_t meeting;
static atomic_int present[2];
static int index_of[2] = { 0, 1 };
static int met[2];

static void *visit(void *argument) {
    int mine = *(int *)argument;
    int other = 1 - mine;
    atomic_store(&present[mine], 1);            /* A1 */
    int company = atomic_load(&present[other]); /* A2 */
    if (company) {
        pthread_barrier_wait(&meeting); /* A3 */
        met[mine] = 1;
    }
    atomic_store(&present[mine], 0); /* A4 */
    return NULL;
}

int main(void) {
    pthread_t people[2];
    if (pthread_barrier_init(&meeting, NULL, 2) != 0) return 2;
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&people[i], NULL, visit, &index_of[i]) != 0) return 2;
    }
    for (int i = 0; i < 2; i++) pthread_join(people[i], NULL);
    pthread_barrier_destroy(&meeting);
    printf("met: %d\n", met[0] + met[1]);
    return 0;
}
