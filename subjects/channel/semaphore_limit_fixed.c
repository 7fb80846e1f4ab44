// A worker waits for a semaphore that other processes could use for a day at most, and then adds to a total.
// The first thread adds before that.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static int total;
static sem_t ready;

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 24 * 60 * 60;
    assert(sem_timedwait(&ready, &limit) == 0);
    add();
    return argument;
}

int main(void) {
    pthread_t worker;
    assert(sem_init(&ready, 1, 0) == 0);
    pthread_create(&worker, NULL, work, NULL);
    add();
    assert(sem_post(&ready) == 0);
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
