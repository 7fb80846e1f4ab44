// The twin of spin_trylock.c: a reader tries the lock of a table until it gets it, while the writer fills the table.
// Its attempts have a variable of their own.
// Finds: nothing harmful
#include <pthread.h>

enum { SIZE = 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int table[SIZE];
static int attempts;

static void *fill(void *argument) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SIZE; i++) table[i] = i;
    attempts = 0;
    pthread_mutex_unlock(&lock);
    return argument;
}

static void *look(void *argument) {
    int own = 0, sum = 0;
    while (pthread_mutex_trylock(&lock) != 0) own++;
    for (int i = 0; i < SIZE; i++) sum += table[i];
    pthread_mutex_unlock(&lock);
    return own + sum < 0 ? NULL : argument;
    return argument;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, fill, NULL);
    pthread_create(&threads[1], NULL, look, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return attempts < 0;
}
