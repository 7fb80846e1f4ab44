// Two threads search values that are larger than a limit. Only the second one finds some, and compares those with the
// best value so far, which only that thread may do. gcc likes to read that before the loop.
// Bug: the first thread compares its values, too.
// Finds: race on best; none
// Flags: -O2
// The twin is conditional_read_fixed.c.
#include <pthread.h>

static const int values[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
static int best;

#ifdef FIXED
enum { LIMIT = 9 };
#else
enum { LIMIT = 2 };
#endif

static int search(const int *from, int count, int limit) {
    int found = 0;
    for (int i = 0; i < count; i++)
        if (from[i] > limit && from[i] > best) found = from[i];
    return found;
}

static void *work(void *argument) {
    best = search(values, 8, 0);
    return argument;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    int found = search(values, 8, LIMIT);
    pthread_join(worker, NULL);
    return best + found < 0;
}
