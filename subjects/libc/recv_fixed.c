// The twin of recv.c: a thread replaces a note by `recv` while another one looks at it.
// A lock protects the note.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>

static char note[8] = "aaaa";
static int ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument) {
    pthread_mutex_lock(&lock);
    assert(recv(ends[0], note, sizeof note, 0) == 4);
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_t worker;
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && send(ends[1], "bbbb", 4, 0) == 4);
    pthread_create(&worker, NULL, work, NULL);
    pthread_mutex_lock(&lock);
    char first = note[0];
    char last = note[3];
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    assert(first == last);
    return 0;
}
