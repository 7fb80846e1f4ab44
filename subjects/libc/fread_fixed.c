// The twin of fread.c: a thread replaces a note by `fread` while another one looks at it.
// A lock protects the note.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static char note[8] = "aaaa";
static FILE *stream;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument) {
    pthread_mutex_lock(&lock);
    assert(fread(note, 1, 4, stream) == 4);
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_t worker;
    stream = tmpfile();
    assert(fwrite("bbbb", 1, 4, stream) == 4);
    rewind(stream);
    pthread_create(&worker, NULL, work, NULL);
    pthread_mutex_lock(&lock);
    char first = note[0];
    char last = note[3];
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    assert(first == last);
    return 0;
}
