// The twin of readv.c: a thread reads a head and a note from a pipe by `readv`.
// The other thread looks at the note when that one has ended.
// Finds: nothing harmful
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
    pthread_join(worker, NULL);
    char first = note[0];
    char last = note[3];
    assert(first == last);
    return 0;
}
