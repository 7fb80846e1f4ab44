// A thread replaces a note by `read` while another one looks at it.
// Bug: nothing protects the note: the other thread may see half of the old and half of the new
// one.
// Finds: race on note; assertion
// The twin is read_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static char note[8] = "aaaa";
static int ends[2];

static void *work(void *argument) {
    assert(read(ends[0], note, 4) == 4);
    return argument;
}

int main(void) {
    pthread_t worker;
    assert(pipe(ends) == 0 && write(ends[1], "bbbb", 4) == 4);
    pthread_create(&worker, NULL, work, NULL);
    char first = note[0];
    char last = note[3];
    pthread_join(worker, NULL);
    assert(first == last);
    return 0;
}
