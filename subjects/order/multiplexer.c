// A message server starts a thread for a connection, and then gives the connection its multiplexer.
// Bug: nothing makes the thread wait until it is there; it may find none.
// After an error in OpenJMS 0.7.7, in which a field is read before it is initialised.
// Finds: order on connection; signal
// The twin is multiplexer_fixed.c.
#include <pthread.h>
#include <stdio.h>

struct multiplexer {
    int channels;
};

struct connection {
    pthread_mutex_t lock;
    struct multiplexer *multiplexer;
};

static struct multiplexer shared = { 3 };
static struct connection connection = { PTHREAD_MUTEX_INITIALIZER, NULL };

static void *serve(void *argument) {
    struct connection *mine = argument;
    pthread_mutex_lock(&mine->lock);
    struct multiplexer *multiplexer = mine->multiplexer;
    pthread_mutex_unlock(&mine->lock);
    printf("%d channels\n", multiplexer->channels);
    return NULL;
}

int main(void) {
    pthread_t server;
    pthread_create(&server, NULL, serve, &connection);
    pthread_mutex_lock(&connection.lock);
    connection.multiplexer = &shared;
    pthread_mutex_unlock(&connection.lock);
    pthread_join(server, NULL);
    return 0;
}
