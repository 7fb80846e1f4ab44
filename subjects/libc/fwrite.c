// A thread writes a note to a file by `fwrite` while another one changes it.
// Bug: nothing protects the note: half of the old and half of the new one may be written.
// Finds: race on note; assertion
// The twin is fwrite_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static char note[8] = "aaaa";
static FILE *stream;
static char sent[4];

static void *work(void *argument) {
    assert(fwrite(note, 1, 4, stream) == 4);
    return argument;
}

int main(void) {
    pthread_t worker;
    stream = tmpfile();
    pthread_create(&worker, NULL, work, NULL);
    note[0] = 'b';
    note[3] = 'b';
    pthread_join(worker, NULL);
    rewind(stream);
    assert(fread(sent, 1, 4, stream) == 4);
    assert(sent[0] == sent[3]);
    return 0;
}
