// The twin of memcpy.c: a thread replaces a note by `memcpy` while another one looks at it.
// A lock protects the note.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <string.h>

static char note[8] = "aaaa";
static const char fresh[] = "bbbb";
static volatile size_t four = 4;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument) {
    pthread_mutex_lock(&lock);
    memcpy(note, fresh, four);
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    pthread_mutex_lock(&lock);
    char first = note[0];
    char last = note[3];
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    assert(first == last);
    return 0;
}
