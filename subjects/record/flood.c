// Writes 1, 2, 3, … up to a number that is the first argument to `count`, and much noise besides; more than a small
// trace can hold. Then prints the sum, to show that the program itself went on.
// Events: the writes from 1 up to where the trace ends, without a gap.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int count;
static volatile unsigned long noise;
static int most;

static void *flood(void *unused) {
    unsigned long state = 88172645463325252;
    for (int left = most; left > 0; left--) {
        count = count + 1;
        for (int i = 0; i < 4; i++) {
            // Numbers that cannot be foreseen take the most room.
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            noise = state;
        }
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
