// Two threads take what is in a pipe, if there is anything.
// Bug: both may find that there is one of the parcels. The second one reads for ever: nobody else writes.
// Finds: race on parcels; deadlock
// The twin is pipe_hang_fixed.c.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int files[2];
static int parcels = 1;

static void *take(void *argument) {
    char item;
    int some = parcels > 0;
    if (some) parcels--;
    if (some && read(files[0], &item, 1) != 1) return NULL;
    return argument;
}

int main(void) {
    pthread_t threads[2];
    if (pipe(files) != 0 || write(files[1], "x", 1) != 1) return 2;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, take, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&lock);
    return 0;
}
