// Opening a session starts its event thread, which uses the session that everyone knows.
// Bug: the session becomes known only when the call that opens it has returned, and the event thread may be
// faster. After an error in Transmission.
// Finds: order on session; assertion
// The twin is session_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct session {
    int magic;
    pthread_t events;
};

enum { MAGIC = 3845 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session *session;

static struct session *known(void) {
    pthread_mutex_lock(&lock);
    struct session *it = session;
    pthread_mutex_unlock(&lock);
    return it;
}

static void publish(struct session *it) {
    pthread_mutex_lock(&lock);
    session = it;
    pthread_mutex_unlock(&lock);
}

static void *handle_events(void *unused) {
    struct session *it = known();
    assert(it != NULL && it->magic == MAGIC);
    return unused;
}

static struct session *open_session(void) {
    struct session *it = calloc(1, sizeof *it);
    if (it == NULL) exit(2);
    it->magic = MAGIC;
#ifdef FIXED
    publish(it);
#endif
    pthread_create(&it->events, NULL, handle_events, NULL);
    return it;
}

int main(void) {
    struct session *it = open_session();
#ifndef FIXED
    publish(it);
#endif
    pthread_join(it->events, NULL);
    printf("closed\n");
    free(it);
    return 0;
}
