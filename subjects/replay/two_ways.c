// Two threads add to a counter, which a lock protects. If EARLY is in the environment, the first of
// them looks at the counter before it takes the lock. Nothing goes wrong; but a schedule of a run
// without it is then left, or met on another way.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter, seen, early;

static void *add(void *arg) {
    if (arg && early) seen = counter; // early
    pthread_mutex_lock(&mutex); // lock
    counter++; // add
    pthread_mutex_unlock(&mutex); // unlock
    return arg;
}

int main(void) {
    pthread_t thread[2];
    early = getenv("EARLY") != NULL;
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, add, i ? NULL : &seen);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    // after
    return counter == 2 ? 0 : 1;
}
