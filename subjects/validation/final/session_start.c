// A session starts its receiver, which uses the buffer of the session.
// Bug (order violation): the buffer is allocated after the receiver was started.
// Consequence: signal
// The twin is session_start_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 32 };

struct session {
    _Atomic(char *) buffer;
    pthread_mutex_t lock;
    int length;
    pthread_t receiver;
};

static struct session session = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void store(struct session *to, const char *message) {
    int length = (int)strlen(message);
    pthread_mutex_lock(&to->lock);
    char *buffer = atomic_load(&to->buffer);
    for (int i = 0; i < length; i++) buffer[to->length + i] = message[i];
    to->length += length;
    pthread_mutex_unlock(&to->lock);
}

// The peer takes its time before it greets.
static void *receive(void *argument) {
    struct session *to = argument;
    usleep(1000);
    store(to, "hello ");
    store(to, "world");
    return NULL;
}

static void allocate(struct session *to) {
    char *buffer = calloc(1, BYTES);
    assert(buffer != NULL);
    atomic_store(&to->buffer, buffer);
}

static void start(struct session *to) {
#ifdef FIXED
    allocate(to);
    pthread_create(&to->receiver, NULL, receive, to);
#else
    pthread_create(&to->receiver, NULL, receive, to);
    allocate(to);
#endif
}

static void stop(struct session *to) {
    pthread_join(to->receiver, NULL);
    printf("%.*s\n", to->length, atomic_load(&to->buffer));
    free(atomic_load(&to->buffer));
}

int main(void) {
    start(&session);
    stop(&session);
    assert(session.length == 11);
    return 0;
}
