// A thread replaces a note by `strncpy` while another one looks at it.
// Bug: nothing protects the note: the other thread may see half of the old and half of the new
// one.
// Finds: race on note; assertion
// The twin is strncpy_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <string.h>

static char note[8] = "aaaa";
static char fresh[] = "bbbb";
static volatile size_t room = sizeof note;

static void *work(void *argument) {
    strncpy(note, fresh, room);
    return argument;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    char first = note[0];
    char last = note[3];
    pthread_join(worker, NULL);
    assert(first == last);
    return 0;
}
