// Writes 1, 2, 3, … up to a number that is the first argument to `count`, in two threads' turns; more
// than a small trace can hold. Then prints the sum, to show that the program itself went on.
// Events: the writes from 1 up to where the trace ends, without a gap.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int count;
static int most;

static void *flood(void *unused) {
    // Numbers that are not foreseen take the most room.
    volatile unsigned long noise = 88172645463325252;
    for (int i = 0; i < most; i++) {
        count = count + 1;
        noise = noise * 6364136223846793005 + 1442695040888963407;
    }
    return unused;
}

int main(int argc, char **argument) {
    pthread_t thread;
    most = argc > 1 ? atoi(argument[1]) : 1000;
    pthread_create(&thread, NULL, flood, NULL);
    pthread_join(thread, NULL);
    printf("%d\n", count);
    return 0;
}
