// A worker writes a line to a log that the first thread closes.
// The number is taken back with the file, under the lock.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_file = -1;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    int file = log_file;
    if (file >= 0 && write(file, "line\n", 5) != 5) perror("write");
    pthread_mutex_unlock(&lock);
    return unused;
}

static void stop(void) {
    pthread_mutex_lock(&lock);
    close(log_file);
    log_file = -1;
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
