// The twin of after_usleep.c: two threads set the level of a tank after different pauses.
// The level has a lock.
// Finds: nothing harmful
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int level;

static void set(int to) {
    pthread_mutex_lock(&lock);
    level = to;
    pthread_mutex_unlock(&lock);
}

static void *fill(void *argument) {
    usleep(3000);
    set(10);
    return argument;
}

static void *drain(void *argument) {
    usleep(9000);
    set(0);
    return argument;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, fill, NULL);
    pthread_create(&threads[1], NULL, drain, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    pthread_mutex_destroy(&lock);
    return level < 0;
}
