// A thread writes a head and a note to a file by `writev` while another one changes the note.
// Bug: nothing protects the note: half of the old and half of the new one may be written.
// Finds: race on note; assertion
// The twin is writev_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

static char head[4] = "head", note[8] = "aaaa", sent[8];
static int ends[2];

static void *work(void *argument) {
    struct iovec parts[2] = {{head, 4}, {note, 4}};
    assert(writev(ends[1], parts, 2) == 8);
    return argument;
}

int main(void) {
    pthread_t worker;
    assert(pipe(ends) == 0);
    pthread_create(&worker, NULL, work, NULL);
    note[0] = 'b';
    note[3] = 'b';
    pthread_join(worker, NULL);
    assert(read(ends[0], sent, 8) == 8);
    assert(sent[4] == sent[7]);
    return 0;
}
