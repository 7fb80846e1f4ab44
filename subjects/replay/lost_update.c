// Two threads add 1 to a counter without a lock. If one reads before the other has written, an
// update is lost and the assertion fails.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static int counter;

static void *add(void *arg) {
    int seen = counter; // read
    counter = seen + 1; // write
    return arg;
}

int main(void) {
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    assert(counter == 2);
    puts("both were counted");
    return 0;
}
