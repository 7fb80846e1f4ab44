// A worker writes a line to a log that the first thread closes.
// Bug: the lock keeps both apart, but nothing tells the worker that the log is closed.
// Finds: descriptor on descriptor; misuse
// The twin is log_file_fixed.c.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_file = -1;

static void *work(void *unused) {
    int file = log_file;
    pthread_mutex_lock(&lock);
    if (write(file, "line\n", 5) != 5) perror("write");
    pthread_mutex_unlock(&lock);
    return unused;
}

static void stop(void) {
    pthread_mutex_lock(&lock);
    close(log_file);
    pthread_mutex_unlock(&lock);
}

int main(void) {
    pthread_t worker;
    log_file = open("/dev/null", O_WRONLY);
    if (pthread_create(&worker, NULL, work, NULL) != 0) return 2;
    stop();
    pthread_join(worker, NULL);
    puts("stopped");
    return 0;
}
