// A listener reads from a pipe until it ends.
// Bug: the first thread closes the end that the listener reads from, to stop it.
// Consequence: misuse, while the listener reads.
// The twin is blocked_read_fixed.c.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2];

static void *listen_to(void *unused) {
    char got;
    while (read(ends[0], &got, 1) == 1) {
    }
    return unused;
}

int main(void) {
    pthread_t listener;
    if (pipe(ends) != 0) return 2;
    if (pthread_create(&listener, NULL, listen_to, NULL) != 0) return 2;
    if (write(ends[1], "a", 1) != 1) return 2;
    close(ends[0]);
    close(ends[1]);
    pthread_join(listener, NULL);
    puts("ended");
    return 0;
}
