// Two threads take a random number of steps each; the seed is the id of the process.
// Bug: nothing protects the number of steps: some are lost.
// Finds: race on steps; assertion
// The twin is seed_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int steps;

static void *walk(void *count) {
    for (int i = 0; i < *(int *)count; i++) {
        int seen = steps;
        steps = seen + 1;
    }
    return NULL;
}

int main(void) {
    pthread_t walker;
    srand(getpid());
    int first = 1 + rand() % 8, second = 1 + rand() % 8;
    pthread_create(&walker, NULL, walk, &first);
    walk(&second);
    pthread_join(walker, NULL);
    assert(steps == first + second);
    return 0;
}
