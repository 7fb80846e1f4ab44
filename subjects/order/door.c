// Two guests go through a door, one after the other. The second one waits for a second at most.
// Bug: it goes through in any case, and locks the door behind itself, though another guest has the key.
// Finds: order on door; assertion
// The twin is door_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t door;
static int inside;

static void *patient(void *unused) {
    pthread_mutex_lock(&door);
    inside++;
    pthread_mutex_unlock(&door);
    return unused;
}

static void *impatient(void *unused) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    pthread_mutex_timedlock(&door, &until);
    inside++;
    assert(pthread_mutex_unlock(&door) == 0);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_mutexattr_t checks;
    pthread_mutexattr_init(&checks);
    pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
    if (pthread_mutex_init(&door, &checks) != 0) return 2;
    if (pthread_create(&threads[0], NULL, patient, NULL) != 0) return 2;
    if (pthread_create(&threads[1], NULL, impatient, NULL) != 0) return 2;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
