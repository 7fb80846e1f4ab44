// A courier hands a parcel to the customer who waits for it, or leaves it in the store if nobody does.
// The customer waits for a second.
// When its time has run out, it still looks at its hands.
// Finds: nothing harmful
// The twin with the bug is late_parcel.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;
static int waits, hands, store, taken;

static void *customer(void *unused) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    int late = 0;
    pthread_mutex_lock(&lock);
    waits = 1;
    while (hands == 0 && !late) late = pthread_cond_timedwait(&bell, &lock, &until) != 0;
    waits = 0;
    taken += hands;
    hands = 0;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *courier(void *unused) {
    pthread_mutex_lock(&lock);
    if (waits) {
        hands = 1;
        pthread_cond_signal(&bell);
    } else {
        store++;
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, customer, NULL) != 0) return 2;
    if (pthread_create(&threads[1], NULL, courier, NULL) != 0) return 2;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(taken + store == 1);
    return 0;
}
