// Two threads count to a large number, one step at a time and with a lock.
// Bug: the last step is without the lock.
// Finds: race on count; none
// The twin is long_count_fixed.c.
#include <pthread.h>

enum { STEPS = 1500 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count;

static void *step(void *argument) {
    for (int i = 0; i < STEPS; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    count++;
    return argument;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, step, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return count > 2 * (STEPS + 1);
}
