// Lines are written to a file at once if it is free, and otherwise into a buffer that is written later.
// Bug (deadlock): a thread that finds the file busy and the buffer full waits for the file with the
// buffer locked; the thread that writes the buffer locks them in the opposite order.
// Deep: the path is taken only if the file is busy, which it is not in a run without switches.
// Consequence: deadlock
// The twin is overflow_path_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { ROOM = 2 };

static pthread_mutex_t file = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t buffer = PTHREAD_MUTEX_INITIALIZER;
static int buffered = ROOM;
static int written;

static void write_buffer(void) {
    pthread_mutex_lock(&file);
    pthread_mutex_lock(&buffer);
    written += buffered;
    buffered = 0;
    pthread_mutex_unlock(&buffer);
    pthread_mutex_unlock(&file);
}

static void write_when_free(void) {
    pthread_mutex_lock(&file);
    written++;
    pthread_mutex_unlock(&file);
}

static void write_line(void) {
    if (pthread_mutex_trylock(&file) == 0) {
        written++;
        pthread_mutex_unlock(&file);
        return;
    }
    pthread_mutex_lock(&buffer);
    if (buffered < ROOM) {
        buffered++;
        pthread_mutex_unlock(&buffer);
        return;
    }
#ifdef FIXED
    pthread_mutex_unlock(&buffer);
    write_when_free();
#else
    write_when_free();
    pthread_mutex_unlock(&buffer);
#endif
}

static void *log_lines(void *unused) {
    write_line();
    write_line();
    return unused;
}

static void *flush(void *unused) {
    write_buffer();
    return unused;
}

int main(void) {
    pthread_t logger, flusher;
    pthread_create(&logger, NULL, log_lines, NULL);
    pthread_create(&flusher, NULL, flush, NULL);
    pthread_join(logger, NULL);
    pthread_join(flusher, NULL);
    write_buffer();
    printf("%d lines\n", written);
    assert(written == ROOM + 2);
    return 0;
}
