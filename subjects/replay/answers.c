// A thread waits for a message that the first one has yet to send.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2];
static char received;

static void *receive(void *arg) {
    char message;
    if (read(ends[0], &message, 1) == 1) received = message;
    return arg;
}

int main(void) {
    pthread_t receiver;
    if (pipe(ends) || pthread_create(&receiver, NULL, receive, NULL)) return 2;
    if (write(ends[1], "m", 1) != 1) return 2;
    pthread_join(receiver, NULL);
    printf("%c\n", received);
    return 0;
}
