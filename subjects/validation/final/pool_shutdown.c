// Workers of a pool wait for jobs until the pool is shut down.
// Bug (lost wake-up): `shut_down` sets the flag and signals without the mutex, so that a worker may
// have read the flag and not yet wait.
// Consequence: deadlock
// The twin is pool_shutdown_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { WORKERS = 2, JOBS = 4 };

struct pool {
    pthread_mutex_t mutex;
    pthread_cond_t work;
    int jobs[JOBS];
    int first, last;
    atomic_int stopping;
    int done;
};

static struct pool pool = { .mutex = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER };

static void *work(void *unused) {
    pthread_mutex_lock(&pool.mutex);
    for (;;) {
        while (pool.first == pool.last && !atomic_load(&pool.stopping))
            pthread_cond_wait(&pool.work, &pool.mutex);
        if (pool.first == pool.last) break;
        int job = pool.jobs[pool.first++];
        pthread_mutex_unlock(&pool.mutex);
        int result = job * job;
        pthread_mutex_lock(&pool.mutex);
        pool.done += result > 0;
    }
    pthread_mutex_unlock(&pool.mutex);
    return unused;
}

static void submit(int job) {
    pthread_mutex_lock(&pool.mutex);
    pool.jobs[pool.last++] = job;
    pthread_cond_signal(&pool.work);
    pthread_mutex_unlock(&pool.mutex);
}

static void shut_down(void) {
#ifdef FIXED
    pthread_mutex_lock(&pool.mutex);
#endif
    atomic_store(&pool.stopping, 1);
    pthread_cond_broadcast(&pool.work);
#ifdef FIXED
    pthread_mutex_unlock(&pool.mutex);
#endif
}

int main(void) {
    pthread_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++) pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < JOBS; i++) submit(i + 1);
    shut_down();
    for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
    printf("%d jobs done\n", pool.done);
    assert(pool.done == JOBS);
    return 0;
}
