// A session with its lock is freed when its server says that it is done.
// The session is freed after the server was joined.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct session {
    pthread_mutex_t lock;
    int requests;
};

static atomic_int finished;

static void *serve(void *argument) {
    struct session *session = argument;
    pthread_mutex_lock(&session->lock);
    session->requests++;
    atomic_store(&finished, 1);
    pthread_mutex_unlock(&session->lock);
    return NULL;
}

int main(void) {
    struct session *session = calloc(1, sizeof *session);
    pthread_t server;
    pthread_mutex_init(&session->lock, NULL);
    if (pthread_create(&server, NULL, serve, session) != 0) return 2;
    while (!atomic_load(&finished)) {
    }
    pthread_join(server, NULL);
    pthread_mutex_destroy(&session->lock);
    free(session);
    puts("freed");
    return 0;
}
