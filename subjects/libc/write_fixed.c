// The twin of write.c: a thread writes a note to a file by `write` while another one changes it.
// A lock protects the note.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static char note[8] = "aaaa";
static int ends[2];
static char sent[4];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument) {
    pthread_mutex_lock(&lock);
    assert(write(ends[1], note, 4) == 4);
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_t worker;
    assert(pipe(ends) == 0);
    pthread_create(&worker, NULL, work, NULL);
    pthread_mutex_lock(&lock);
    note[0] = 'b';
    note[3] = 'b';
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    assert(read(ends[0], sent, 4) == 4);
    assert(sent[0] == sent[3]);
    return 0;
}
