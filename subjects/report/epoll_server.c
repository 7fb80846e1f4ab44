// A server with an epoll loop, which hands requests to a worker; both use the connection's state.
// Bug: the loop closes a connection and frees its state when the client has closed its end, while the
// worker may still be answering a request of that connection.
// Finds: lifetime on heap connection Connection; memory
// First: use after free: `connection in release
// The twin is epoll_server_fixed.c.
#define _GNU_SOURCE
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct connection {
    int socket;
    int users;
    int answered;
};

struct request {
    struct connection *connection;
    char text[8];
    struct request *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static struct request *requests;
static int stopping;

static void release(struct connection *connection) {
    pthread_mutex_lock(&lock);
    int users = --connection->users;
    pthread_mutex_unlock(&lock);
    if (users == 0) {
        close(connection->socket);
        free(connection);
    }
}

static void enqueue(struct connection *connection, const char *text) {
    struct request *request = calloc(1, sizeof *request);
    request->connection = connection;
    snprintf(request->text, sizeof request->text, "%s", text);
    pthread_mutex_lock(&lock);
#ifdef FIXED
    connection->users++;
#endif
    request->next = requests;
    requests = request;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}

static struct request *dequeue(void) {
    pthread_mutex_lock(&lock);
    while (!requests && !stopping)
        pthread_cond_wait(&filled, &lock);
    struct request *request = requests;
    if (request)
        requests = request->next;
    pthread_mutex_unlock(&lock);
    return request;
}

static void answer(struct request *request) {
    struct connection *connection = request->connection;
    connection->answered++;
    assert(strcmp(request->text, "ping") == 0);
#ifdef FIXED
    release(connection);
#endif
    free(request);
}

static void *serve(void *unused) {
    struct request *request;
    while ((request = dequeue()))
        answer(request);
    return unused;
}

static struct connection *open_connection(int loop, int socket) {
    struct connection *connection = calloc(1, sizeof *connection);
    connection->socket = socket;
    connection->users = 1;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    assert(epoll_ctl(loop, EPOLL_CTL_ADD, socket, &event) == 0);
    return connection;
}

// Reads requests until the client has closed its end.
static void run_loop(int loop) {
    for (;;) {
        struct epoll_event event;
        assert(epoll_wait(loop, &event, 1, -1) == 1);
        struct connection *connection = event.data.ptr;
        char text[8] = "";
        ssize_t length = read(connection->socket, text, 4);
        assert(length >= 0);
        if (length == 0) {
            release(connection);
            return;
        }
        enqueue(connection, text);
    }
}

static void *listen_to_clients(void *argument) {
    run_loop(*(int *)argument);
    return NULL;
}

int main(void) {
    int ends[2];
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    int loop = epoll_create1(0);
    open_connection(loop, ends[0]);
    pthread_t server, worker;
    pthread_create(&worker, NULL, serve, NULL);
    pthread_create(&server, NULL, listen_to_clients, &loop);
    assert(write(ends[1], "ping", 4) == 4);
    close(ends[1]);
    pthread_join(server, NULL);
    pthread_mutex_lock(&lock);
    stopping = 1;
    pthread_cond_broadcast(&filled);
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    close(loop);
    return 0;
}
