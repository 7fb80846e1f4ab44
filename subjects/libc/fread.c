// A thread replaces a note by `fread` while another one looks at it.
// Bug: nothing protects the note: the other thread may see half of the old and half of the new
// one.
// Finds: race on note; assertion
// The twin is fread_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static char note[8] = "aaaa";
static FILE *stream;

static void *work(void *argument) {
    assert(fread(note, 1, 4, stream) == 4);
    return argument;
}

int main(void) {
    pthread_t worker;
    stream = tmpfile();
    assert(fwrite("bbbb", 1, 4, stream) == 4);
    rewind(stream);
    pthread_create(&worker, NULL, work, NULL);
    char first = note[0];
    char last = note[3];
    pthread_join(worker, NULL);
    assert(first == last);
    return 0;
}
