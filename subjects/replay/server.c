// A server for two clients: each gets a thread, which adds what the client sends to a total without
// a lock, and answers. With an argument it sleeps in between, so that it mostly fails.
// The port is in the file `port`.
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int total, polite;

static void *serve(void *arg) {
    int client = *(int *)arg;
    char message[16] = {0};
    if (recv(client, message, sizeof message - 1, 0) <= 0) return NULL;
    int before = total;
    if (polite) usleep(1);
    total = before + atoi(message);
    if (send(client, "ok", strlen("ok"), 0) != 2) return NULL;
    shutdown(client, SHUT_RDWR);
    close(client);
    return NULL;
}

static int listen_somewhere(void) {
    int server = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    if (bind(server, (struct sockaddr *)&address, len) || listen(server, 2)) return -1;
    if (getsockname(server, (struct sockaddr *)&address, &len)) return -1;
    FILE *port = fopen("port.new", "w");
    fprintf(port, "%d", ntohs(address.sin_port));
    fclose(port);
    return rename("port.new", "port") ? -1 : server;
}

int main(int count, char **words) {
    (void)words;
    polite = count > 1;
    int server = listen_somewhere(), clients[2];
    if (server < 0) return 2;
    for (int i = 0; i < 2; i++) {
        struct pollfd polled = {.fd = server, .events = POLLIN};
        if (poll(&polled, 1, -1) != 1) return 3;
        struct sockaddr_in peer;
        socklen_t len = sizeof peer;
        clients[i] = accept(server, (struct sockaddr *)&peer, &len);
        if (clients[i] < 0) return 4;
        printf("client %d on port %d\n", i, ntohs(peer.sin_port));
    }
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, serve, &clients[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("total %d\n", total);
    assert(total == 30);
    return 0;
}
