// A listener reads from a pipe until it ends.
// It closes the other end, and that of the listener after it has ended.
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
    close(ends[1]);
    pthread_join(listener, NULL);
    close(ends[0]);
    puts("ended");
    return 0;
}
