// A thread that nobody joins counts in a table until the program ends.
// Bug: an exit handler frees the table while that thread may still use it.
// Finds: lifetime on main; use after free
// The twin is exit_handler_fixed.c.
#include <pthread.h>
#include <stdlib.h>

static int *table;
static int begun;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void discard(void) { free(table); }

static void *count(void *argument) {
    pthread_mutex_lock(&lock);
    begun = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    table[1]++;
    return argument;
}

int main(void) {
    pthread_t worker;
    table = calloc(2, sizeof *table);
    atexit(discard);
    pthread_create(&worker, NULL, count, NULL);
    pthread_detach(worker);
    pthread_mutex_lock(&lock);
    while (!begun) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return 0;
}
