// The twin of early_close.c: a worker writes to a log, which the first thread closes.
// It waits for the worker first.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int log_file;

static void *work(void *unused) {
    if (write(log_file, "work\n", 5) != 5) perror("write");
    return unused;
}

int main(void) {
    pthread_t worker;
    log_file = open("/dev/null", O_WRONLY);
    if (pthread_create(&worker, NULL, work, NULL) != 0) return 2;
    pthread_join(worker, NULL);
    close(log_file);
    puts("done");
    return 0;
}
