// The twin of read.c: a thread replaces a note by `read` while another one looks at it.
// A lock protects the note.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static char note[8] = "aaaa";
static int ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument) {
    pthread_mutex_lock(&lock);
    assert(read(ends[0], note, 4) == 4);
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_t worker;
    assert(pipe(ends) == 0 && write(ends[1], "bbbb", 4) == 4);
    pthread_create(&worker, NULL, work, NULL);
    pthread_mutex_lock(&lock);
    char first = note[0];
    char last = note[3];
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    assert(first == last);
    return 0;
}
