// The twin of barrier_misuse.c: both people always come to the barrier for two, whatever they find.
// Nobody waits in vain: it never fails.
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
    pthread_barrier_wait(&meeting); /* A3 */
    met[mine] = 1 + company;
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
    printf("met: %d\n", (met[0] > 0) + (met[1] > 0));
    return 0;
}
