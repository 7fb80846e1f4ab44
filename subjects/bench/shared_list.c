// Threads append to one array with separate steps for its length and its elements, partly under a
// lock. The argument is the number of threads. For the study of window sizes.
#include <pthread.h>
#include <stdlib.h>

#define ROOM 256

static int items[ROOM], length, capacity = ROOM;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *append(void *argument) {
    for (int i = 0; i < 2; i++) {
        if (length < capacity) {
            int at = length;
            items[at] = (int)(size_t)argument;
            pthread_mutex_lock(&lock);
            length = length + 1;
            pthread_mutex_unlock(&lock);
        }
    }
    pthread_mutex_lock(&lock);
    int last = length > 0 ? items[length - 1] : 0;
    pthread_mutex_unlock(&lock);
    return (void *)(size_t)last;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 4;
    pthread_t *threads = malloc(sizeof *threads * count);
    for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, append, (void *)(size_t)i);
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    free(threads);
    return 0;
}
