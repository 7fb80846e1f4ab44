// A reporter writes into a pipe that the first thread closes.
// The first thread joins the reporter before it closes the pipe.
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
    pthread_join(reporter, NULL);
    close(ends[1]);
    if (read(ends[0], &got, 1) < 0) return 2;
    printf("%c\n", got);
    return 0;
}
