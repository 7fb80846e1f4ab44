// A server closes a session: it frees it, and then removes it from the table. A monitor prints the session.
// Bug (use after free): the table is cleared too late. The server holds its own lock all the while, so that
// the monitor finds the freed session only between the two steps.
// Finds: order on session; memory
// The twin is stale_session_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct session { int user; };

static pthread_mutex_t server = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static struct session *session;
static int closed, printed;

static void *close_session(void *unused) {
    pthread_mutex_lock(&server);
    pthread_mutex_lock(&table);
    struct session *old = session;
#ifdef FIXED
    session = NULL;
#endif
    pthread_mutex_unlock(&table);
    free(old);
    pthread_mutex_lock(&table);
    session = NULL;
    pthread_mutex_unlock(&table);
    closed++;
    pthread_mutex_unlock(&server);
    return unused;
}

static void *monitor(void *unused) {
    pthread_mutex_lock(&table);
    if (session != NULL) printed += session->user;
    pthread_mutex_unlock(&table);
    pthread_mutex_lock(&server);
    closed++;
    pthread_mutex_unlock(&server);
    return unused;
}

int main(void) {
    pthread_t one, two;
    session = malloc(sizeof *session);
    session->user = 7;
    pthread_create(&one, NULL, close_session, NULL);
    pthread_create(&two, NULL, monitor, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("%d closed\n", closed);
    assert(printed == 0 || printed == 7);
    return 0;
}
