// Closes every descriptor from 3 to 1023, as daemons do, and goes on in two threads.
// Events: writes of 1 and 2 to `step` around the closing, one of 3 by T0.1 after it.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int step;

static void *run(void *unused) {
    step = 3;
    return unused;
}

int main(void) {
    pthread_t thread;
    step = 1;
    int closed = 0;
    for (int file = 3; file < 1024; file++) closed += close(file) == 0;
    step = 2;
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    printf("%d %d\n", closed, step);
    return 0;
}
