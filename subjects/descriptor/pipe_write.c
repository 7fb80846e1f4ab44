// A reporter writes into a pipe that the first thread closes.
// Bug: the first thread only gives the reporter some time.
// Finds: descriptor on descriptor; misuse
// The twin is pipe_write_fixed.c.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2];

static void *report(void *unused) {
    if (write(ends[1], "r", 1) != 1) perror("write");
    return unused;
}

int main(void) {
    pthread_t reporter;
    char got = 0;
    if (pipe(ends) != 0) return 2;
    if (pthread_create(&reporter, NULL, report, NULL) != 0) return 2;
    usleep(1000);
    close(ends[1]);
    if (read(ends[0], &got, 1) < 0) return 2;
    pthread_join(reporter, NULL);
    printf("%c\n", got);
    return 0;
}
