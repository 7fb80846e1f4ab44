// A guest waits for a table for a while. The host gives the guest one and fails while it still holds the
// mutex: the guest is then blocked by the mutex, in the middle of a wait that has not timed out.
// Consequence: assertion, if the guest waits before the host runs
#include <assert.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given = PTHREAD_COND_INITIALIZER;
static int guests, tables;

static void *wait_for_table(void *unused) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 600;
    pthread_mutex_lock(&mutex);
    guests++;
    while (tables == 0)
      if (pthread_cond_timedwait(&given, &mutex, &until) != 0) break;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *give_table(void *unused) {
    pthread_mutex_lock(&mutex);
    tables++;
    pthread_cond_signal(&given);
    assert(guests == 0);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, wait_for_table, 0);
    pthread_create(&threads[1], 0, give_table, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
