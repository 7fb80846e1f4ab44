// A thread reads a head and a note from a pipe by `readv` while another one looks at the note.
// Bug: nothing protects the note: the thread may see a half of it.
// Finds: race on note; assertion
// The twin is readv_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

static char head[4], note[4] = "aaaa";
static int ends[2];

static void *work(void *argument) {
    struct iovec parts[2] = {{head, 4}, {note, 4}};
    assert(readv(ends[0], parts, 2) == 8);
    return argument;
}

int main(void) {
    pthread_t worker;
    assert(pipe(ends) == 0);
    assert(write(ends[1], "headbbbb", 8) == 8);
    pthread_create(&worker, NULL, work, NULL);
    char first = note[0];
    char last = note[3];
    pthread_join(worker, NULL);
    assert(first == last);
    return 0;
}
