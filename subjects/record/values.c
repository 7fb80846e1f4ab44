// A counter under a lock goes from 1 to twice the number that is the argument, by two threads.
// Events: the values read of `counter` in the order of the lock are 0, 1, 2, …, those written 1, 2,
// 3, …; `twice`, `half` and `part` (8, 2 and 1 bytes) are written with 2n, n & 0xffff and n & 0xff at
// every 16th n.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned counter;
static unsigned long twice;
static unsigned short half;
static unsigned char part;
static int times;

static void *count(void *unused) {
    for (int left = times; left > 0; left--) {
        pthread_mutex_lock(&m);
        unsigned n = ++counter;
        if (n % 16 == 0) {
            twice = 2ul * n;
            half = (unsigned short)n;
            part = (unsigned char)n;
        }
        pthread_mutex_unlock(&m);
    }
    return unused;
}

int main(int argc, char **argument) {
    pthread_t thread[2];
    times = argc > 1 ? atoi(argument[1]) : 0;
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, count, NULL);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    printf("%u %lu %u %u\n", counter, twice, half, part);
    return 0;
}
