// Uses an object after it was destroyed; which one is the first argument. With a second argument the
// object is fine when it is used: it was initialised again, by function or by what it is assigned. Or
// it is locked when it is destroyed.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static pthread_mutex_t *in_allocated_block;

static void destroy(void) {
    pthread_mutex_destroy(&mutex); // mutex
    pthread_cond_destroy(&cond);
    pthread_rwlock_destroy(&rwlock);
    pthread_barrier_destroy(&barrier);
    sem_destroy(&semaphore);
    free(in_allocated_block);
}

static void make_again(const char *how) {
    if (strcmp(how, "function") == 0) {
        pthread_mutex_init(&mutex, NULL);
        pthread_cond_init(&cond, NULL);
        pthread_rwlock_init(&rwlock, NULL);
        pthread_barrier_init(&barrier, NULL, 1);
        sem_init(&semaphore, 0, 0);
        in_allocated_block = malloc(sizeof *in_allocated_block);
        pthread_mutex_init(in_allocated_block, NULL);
    }
    if (strcmp(how, "static") == 0) {
        mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
        cond = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
        rwlock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
    }
}

static void use(const char *what) {
    if (strcmp(what, "mutex") == 0) pthread_mutex_lock(&mutex); // use
    if (strcmp(what, "signal") == 0) pthread_cond_signal(&cond);
    if (strcmp(what, "broadcast") == 0) pthread_cond_broadcast(&cond);
    if (strcmp(what, "read") == 0) pthread_rwlock_rdlock(&rwlock);
    if (strcmp(what, "write") == 0) pthread_rwlock_wrlock(&rwlock);
    if (strcmp(what, "barrier") == 0) pthread_barrier_wait(&barrier);
    if (strcmp(what, "post") == 0) sem_post(&semaphore);
    if (strcmp(what, "try") == 0) sem_trywait(&semaphore);
    if (strcmp(what, "block") == 0) pthread_mutex_lock(in_allocated_block);
    if (strcmp(what, "unlock") == 0) pthread_mutex_unlock(&mutex);
}

static void *end(void *unused) {
    destroy();
    return unused;
}

int main(int argc, char **argv) {
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 1);
    sem_init(&semaphore, 0, 0);
    in_allocated_block = malloc(sizeof *in_allocated_block);
    pthread_mutex_init(in_allocated_block, NULL);
    if (argc > 2 && strcmp(argv[2], "locked") == 0) pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, end, NULL);
    pthread_join(thread, NULL);
    if (argc > 2) make_again(argv[2]);
    use(argv[1]);
    return 0;
}
