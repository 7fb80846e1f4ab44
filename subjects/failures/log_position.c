// A slave opens a log, which resets the position, and then reads the event that the master has appended.
// Bug: the slave expects that the master appends between the two steps, and does not wait for that. All
// accesses hold the lock, and the two steps must not be atomic. After an error in MySQL.
// Finds: order on position; assertion
// The twin is log_position_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

enum { START = 4, EVENT = 95, ROUNDS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t opened, appended, next;
static int position;

static void set(int to) {
    pthread_mutex_lock(&lock);
    position = to;
    pthread_mutex_unlock(&lock);
}

static void *follow(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        set(START);
        sem_post(&opened);
#ifdef FIXED
        sem_wait(&appended);
#else
        usleep(1000);
#endif
        pthread_mutex_lock(&lock);
        int wanted = position;
        pthread_mutex_unlock(&lock);
        assert(wanted == START + EVENT);
        sem_post(&next);
    }
    return unused;
}

int main(void) {
    pthread_t slave;
    sem_init(&opened, 0, 0);
    sem_init(&appended, 0, 0);
    sem_init(&next, 0, 0);
    pthread_create(&slave, NULL, follow, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        sem_wait(&opened);
        set(START + EVENT);
        sem_post(&appended);
        sem_wait(&next);
    }
    pthread_join(slave, NULL);
    printf("%d events\n", ROUNDS);
    return 0;
}
