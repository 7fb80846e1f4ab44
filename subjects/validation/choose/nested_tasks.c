// A pool of two workers runs tasks; a task may add further tasks. The pool is destroyed when its queue is empty
// and no worker runs a task.
// Bug (use after free): a worker counts itself as busy after it has released the lock under which it took
// the task.
// Deep: the owner must look between the two, and the task that runs then must add another one.
// Consequence: use after free
// The twin is nested_tasks_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 8 };

struct tasks { int depth[MOST]; int count; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct tasks *tasks;
static int busy, stopped;
static atomic_int done;

static void add(int depth) {
    pthread_mutex_lock(&lock);
    assert(tasks->count < MOST);
    tasks->depth[tasks->count++] = depth;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void run(int depth) {
    if (depth > 0) add(depth - 1);
    atomic_fetch_add(&done, 1);
}

static void *work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!stopped && tasks->count == 0) pthread_cond_wait(&changed, &lock);
        if (stopped) break;
        int depth = tasks->depth[--tasks->count];
#ifndef FIXED
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
#endif
        busy++;
        pthread_mutex_unlock(&lock);
        run(depth);
        pthread_mutex_lock(&lock);
        busy--;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    tasks = calloc(1, sizeof *tasks);
    pthread_t workers[2];
    for (int i = 0; i < 2; i++) pthread_create(&workers[i], NULL, work, NULL);
    add(1);
    add(0);
    pthread_mutex_lock(&lock);
    while (tasks->count > 0 || busy > 0) pthread_cond_wait(&changed, &lock);
    stopped = 1;
    free(tasks);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++) pthread_join(workers[i], NULL);
    printf("pool destroyed\n");
    return 0;
}
