// Two threads copy a constant text to the same place, which the compiler does by a few instructions.
// They do it with the lock.
// Finds: nothing harmful
// Flags: -O2
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    char name[16];
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *work(void *argument) {
    pthread_mutex_lock(&shared.lock);
    strcpy(shared.name, "worker");
    pthread_mutex_unlock(&shared.lock);
    return argument;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    pthread_mutex_lock(&shared.lock);
    strcpy(shared.name, "first");
    pthread_mutex_unlock(&shared.lock);
    pthread_join(worker, NULL);
    puts(shared.name[0] ? "named" : "no name");
    return 0;
}
