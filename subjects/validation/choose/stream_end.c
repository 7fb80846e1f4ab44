// A reader passes chunks to a writer through a small buffer, and sets a flag at the end of the stream.
// Bug (order violation): the writer checks the flag after it has found the buffer empty, in another
// critical section. The last chunk may arrive in between, and is not written.
// Consequence: assertion
// The twin is stream_end_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { CHUNKS = 3, MOST = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int chunks[MOST];
static int first, last;
static int ended;

static void put(int chunk) {
    pthread_mutex_lock(&lock);
    chunks[last++] = chunk;
    pthread_mutex_unlock(&lock);
}

static void end_stream(void) {
    pthread_mutex_lock(&lock);
    ended = 1;
    pthread_mutex_unlock(&lock);
}

static int take(int *chunk) {
    pthread_mutex_lock(&lock);
    int has = first < last;
    if (has) *chunk = chunks[first++];
    pthread_mutex_unlock(&lock);
    return has;
}

static int has_ended(void) {
    pthread_mutex_lock(&lock);
    int it = ended;
    pthread_mutex_unlock(&lock);
    return it;
}

static void *read_stream(void *unused) {
    for (int i = 1; i <= CHUNKS; i++) put(i);
    end_stream();
    return unused;
}

static void *write_stream(void *argument) {
    int *written = argument, chunk;
    for (;;) {
#ifdef FIXED
        int over = has_ended();
        if (take(&chunk)) *written += chunk;
        else if (over) break;
#else
        if (take(&chunk)) *written += chunk;
        else if (has_ended()) break;
#endif
        else sched_yield();
    }
    return NULL;
}

int main(void) {
    pthread_t reader, writer;
    int written = 0;
    pthread_create(&reader, NULL, read_stream, NULL);
    pthread_create(&writer, NULL, write_stream, &written);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    printf("written: %d\n", written);
    assert(written == 6);
    return 0;
}
