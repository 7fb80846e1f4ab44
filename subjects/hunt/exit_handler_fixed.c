// The twin of exit_handler.c: a thread that nobody joins counts in a table until the program ends.
// The thread reports when it is done with the table, and the first thread waits for that.
// Finds: nothing harmful
#include <pthread.h>
#include <stdlib.h>

static int *table;
static int done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void discard(void) { free(table); }

static void *count(void *argument) {
    table[1]++;
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_t worker;
    table = calloc(2, sizeof *table);
    atexit(discard);
    pthread_create(&worker, NULL, count, NULL);
    pthread_detach(worker);
    pthread_mutex_lock(&lock);
    while (!done) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return 0;
}
