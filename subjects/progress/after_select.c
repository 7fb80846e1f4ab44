// Two threads sleep by `select`, which says how much time is left, and note that.
// Bug: both note it in the same variable.
// Finds: race on note; none
// The twin is after_select_fixed.c.
#include <pthread.h>
#include <stdint.h>
#include <sys/select.h>

#ifdef FIXED
static long notes[2];
#else
static long note;
#endif

static void *wait(void *argument) {
    struct timeval left = { .tv_usec = 20000 };
    int ready = select(0, NULL, NULL, NULL, &left);
#ifdef FIXED
    notes[(intptr_t)argument] = ready + left.tv_usec;
#else
    note = ready;
#endif
    return argument;
}

int main(void) {
    pthread_t threads[2];
    for (intptr_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, wait, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
#ifdef FIXED
    return notes[0] + notes[1] != 0;
#else
    return note != 0;
#endif
}
