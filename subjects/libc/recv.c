// A thread replaces a note by `recv` while another one looks at it.
// Bug: nothing protects the note: the other thread may see half of the old and half of the new
// one.
// Finds: race on note; assertion
// The twin is recv_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>

static char note[8] = "aaaa";
static int ends[2];

static void *work(void *argument) {
    assert(recv(ends[0], note, sizeof note, 0) == 4);
    return argument;
}

int main(void) {
    pthread_t worker;
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && send(ends[1], "bbbb", 4, 0) == 4);
    pthread_create(&worker, NULL, work, NULL);
    char first = note[0];
    char last = note[3];
    pthread_join(worker, NULL);
    assert(first == last);
    return 0;
}
