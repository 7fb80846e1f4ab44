// The twin of range.c: the two ends are read and written in one critical section.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>

static struct {
    int from, to;
} range;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *widen(void *unused) {
    pthread_mutex_lock(&lock);
    range.from = -1;
    range.to = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *look(void *unused) {
    pthread_mutex_lock(&lock);
    int from = range.from, to = range.to;
    pthread_mutex_unlock(&lock);
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
