// The twin of seed.c: two threads take a random number of steps each; the seed is the id of the process.
// A lock protects the number of steps.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int steps;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *walk(void *count) {
    for (int i = 0; i < *(int *)count; i++) {
        pthread_mutex_lock(&lock);
        int seen = steps;
        steps = seen + 1;
        pthread_mutex_unlock(&lock);
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
