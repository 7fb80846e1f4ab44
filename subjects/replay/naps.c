// The first thread sleeps until the second has done something, and only then writes.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile int done, seen;

static void *work(void *unused) {
    done = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    while (!done) usleep(1000);
    seen = 1; // write
    pthread_join(thread, NULL);
    puts("seen");
    return 0;
}
