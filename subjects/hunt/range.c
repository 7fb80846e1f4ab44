// Three threads widen a range, one looks at it.
// Bug: each end is read and written under the lock, but the two ends are not one critical section: who
// looks in between sees half of a change. The ends lie side by side, within eight bytes, and whoever
// looks after any of the changes sees nothing wrong.
// Finds: atomic-set on range; assertion
// The twin is range_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>

static struct {
    int from, to;
} range;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void put(int *end, int value) {
    pthread_mutex_lock(&lock);
    *end = value;
    pthread_mutex_unlock(&lock);
}

static int get(int *end) {
    pthread_mutex_lock(&lock);
    int value = *end;
    pthread_mutex_unlock(&lock);
    return value;
}

static void *widen(void *unused) {
    put(&range.from, -1);
    put(&range.to, 1);
    return unused;
}

static void *look(void *unused) {
    int from = get(&range.from), to = get(&range.to);
    assert(from == -to);
    return unused;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, widen, NULL);
    pthread_create(&threads[3], NULL, look, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return 0;
}
