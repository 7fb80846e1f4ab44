// A session with its lock is freed when its server says that it is done.
// Bug: the server says so before it has unlocked, so it may unlock freed memory.
// Finds: lifetime on main; use after free
// The twin is freed_unlock_fixed.c.
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
    free(session);
    pthread_join(server, NULL);
    puts("freed");
    return 0;
}
