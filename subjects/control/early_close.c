// A worker writes to a log, which the first thread closes.
// Bug: it does not wait for the worker.
// Consequence: misuse, the worker writes to a closed descriptor.
// The twin, early_close_fixed.c, never fails.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int log_file;

static void *work(void *unused) {
    if (write(log_file, "work\n", 5) != 5) perror("write"); /* B1 */
    return unused;
}

int main(void) {
    pthread_t worker;
    log_file = open("/dev/null", O_WRONLY);
    if (pthread_create(&worker, NULL, work, NULL) != 0) return 2;
    close(log_file); /* A1 */
    pthread_join(worker, NULL);
    puts("done");
    return 0;
}
