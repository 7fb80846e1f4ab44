// The twin of multiplexer.c: a message server starts a thread for a connection, and then gives the
// connection its multiplexer. The thread waits until it is there.
// Finds: nothing harmful
#include <pthread.h>
#include <stdio.h>

struct multiplexer {
    int channels;
};

struct connection {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    struct multiplexer *multiplexer;
};

static struct multiplexer shared = { 3 };
static struct connection connection = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL };

static void *serve(void *argument) {
    struct connection *mine = argument;
    pthread_mutex_lock(&mine->lock);
    while (mine->multiplexer == NULL) pthread_cond_wait(&mine->ready, &mine->lock);
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
    pthread_cond_signal(&connection.ready);
    pthread_mutex_unlock(&connection.lock);
    pthread_join(server, NULL);
    return 0;
}
