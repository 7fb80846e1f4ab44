// The twin of pipe_hang.c: two threads take what is in a pipe, if there is anything.
// They look with a lock, so only one of them reads.
// Finds: nothing harmful
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int files[2];
static int parcels = 1;

static void *take(void *argument) {
    char item;
    pthread_mutex_lock(&lock);
    int some = parcels > 0;
    if (some) parcels--;
    pthread_mutex_unlock(&lock);
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
