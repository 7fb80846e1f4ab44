// Two threads copy a constant text to the same place, which the compiler does by a few instructions.
// Bug: they do it without the lock.
// Finds: race on shared.name; none
// Flags: -O2
// The twin is constant_text_fixed.c.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    char name[16];
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *work(void *argument) {
    strcpy(shared.name, "worker");
    return argument;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    strcpy(shared.name, "first");
    pthread_join(worker, NULL);
    puts(shared.name[0] ? "named" : "no name");
    return 0;
}
