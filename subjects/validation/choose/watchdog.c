// A watchdog declares a worker dead if its tick is the same in three looks in a row, and frees its job.
// Bug (use after free): the worker checks that it is not dead, and then uses its job without the lock.
// Deep: the worker must stand still during three looks, after it has checked, and continue then.
// Consequence: use after free
// The twin is watchdog_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ticks;
static atomic_int dead;
struct job { int steps; };
static struct job *current;

static void *worker(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    struct job *mine = current = calloc(1, sizeof *mine);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; i++) {
#ifdef FIXED
        pthread_mutex_lock(&lock);
        if (atomic_load(&dead)) { pthread_mutex_unlock(&lock); return NULL; }
        mine->steps++;
        pthread_mutex_unlock(&lock);
#else
        if (atomic_load(&dead)) return NULL;
        mine->steps++;
#endif
        atomic_fetch_add(&ticks, 1);
    }
    pthread_mutex_lock(&lock);
    if (!atomic_load(&dead)) { free(mine); current = NULL; }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *watch(void *unused) {
    (void)unused;
    int last = -1, still = 0;
    for (int i = 0; i < 4; i++) {
        int now = atomic_load(&ticks);
        still = now == last ? still + 1 : 0;
        last = now;
        if (still == 2) {
            pthread_mutex_lock(&lock);
            if (current) { atomic_store(&dead, 1); free(current); current = NULL; }
            pthread_mutex_unlock(&lock);
        }
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, watch, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("done\n");
    return 0;
}
