// The twin of file_lock.c: the file is closed, which releases the lock, after the entry was counted.
// Finds: nothing harmful
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
        entries++;
        close(file);
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
