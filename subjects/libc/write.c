// A thread writes a note to a file by `write` while another one changes it.
// Bug: nothing protects the note: half of the old and half of the new one may be written.
// Finds: race on note; assertion
// The twin is write_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static char note[8] = "aaaa";
static int ends[2];
static char sent[4];

static void *work(void *argument) {
    assert(write(ends[1], note, 4) == 4);
    return argument;
}

int main(void) {
    pthread_t worker;
    assert(pipe(ends) == 0);
    pthread_create(&worker, NULL, work, NULL);
    note[0] = 'b';
    note[3] = 'b';
    pthread_join(worker, NULL);
    assert(read(ends[0], sent, 4) == 4);
    assert(sent[0] == sent[3]);
    return 0;
}
