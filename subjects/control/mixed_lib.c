// Half of mixed.c and mixed_fixed.c: a shared library, to be built without norn (cc -shared -fPIC
// -pthread). It counts calls under a mutex of its own.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int notes;

int mixed_note(void) {
    pthread_mutex_lock(&lock);
    int count = ++notes;
    pthread_mutex_unlock(&lock);
    return count;
}
