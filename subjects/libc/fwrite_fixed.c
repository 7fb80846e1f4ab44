// The twin of fwrite.c: a thread writes a note to a file by `fwrite` while another one changes
// it.
// A lock protects the note.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static char note[8] = "aaaa";
static FILE *stream;
static char sent[4];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument) {
    pthread_mutex_lock(&lock);
    assert(fwrite(note, 1, 4, stream) == 4);
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_t worker;
    stream = tmpfile();
    pthread_create(&worker, NULL, work, NULL);
    pthread_mutex_lock(&lock);
    note[0] = 'b';
    note[3] = 'b';
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    rewind(stream);
    assert(fread(sent, 1, 4, stream) == 4);
    assert(sent[0] == sent[3]);
    return 0;
}
