// A counter under a lock goes from 1 to 100,000, in turns of two threads.
// Events: the values read of `counter` in the order of the lock are 0 to 99,999, those written 1 to
// 100,000; `twice`, `half` and `part` (8, 2 and 1 bytes) are written with 2n, n & 0xffff and n & 0xff.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned counter;
static unsigned long twice;
static unsigned short half;
static unsigned char part;

static void *count(void *unused) {
    for (int i = 0; i < 50000; i++) {
        pthread_mutex_lock(&m);
        counter++;
        twice = 2ul * counter;
        half = (unsigned short)counter;
        part = (unsigned char)counter;
        pthread_mutex_unlock(&m);
    }
    return unused;
}

int main(void) {
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, count, NULL);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    printf("%u %lu %u %u\n", counter, twice, half, part);
    return 0;
}
