// The twin of once.c: a log is opened once, by whoever needs it first.
// Who rotates the log makes sure that it is open before it locks it.
// Finds: nothing harmful
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static int lines;

static void write_line(void) {
    pthread_mutex_lock(&log_lock);
    lines++;
    pthread_mutex_unlock(&log_lock);
}

static void open_log(void) {
    write_line();
}

static void *serve(void *unused) {
    pthread_once(&opened, open_log);
    write_line();
    return unused;
}

static void *rotate(void *unused) {
    pthread_once(&opened, open_log);
    pthread_mutex_lock(&log_lock);
    lines = 1;
    pthread_mutex_unlock(&log_lock);
    return unused;
}

int main(void) {
    pthread_t serves, rotates;
    if (pthread_create(&serves, NULL, serve, NULL) != 0) return 2;
    if (pthread_create(&rotates, NULL, rotate, NULL) != 0) return 2;
    pthread_join(serves, NULL);
    pthread_join(rotates, NULL);
    printf("lines: %d\n", lines > 0);
    return 0;
}
