// Two threads count entries of a file under a lock on that file, one of them after it has closed the file.
// Finds: race on entries; exit
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

static const char *name = "/dev/null";
static volatile int entries;

static void *append(void *argument) {
    for (int i = 0; i < 2; i++) {
        int file = open(name, O_RDONLY);
        flock(file, LOCK_EX);
        close(file);
        entries++;
    }
    return argument;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, append, NULL);
    pthread_create(&two, NULL, append, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return entries != 4;
}
