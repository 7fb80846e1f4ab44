// A worker transforms the second half of an array while the first thread transforms the first half, and
// then prints the checksum of both.
// Bug: nothing waits for the second half before the checksum is printed. After an error in FFT of SPLASH-2,
// which prints before a barrier.
// Finds: order on sum; exit
// The twin is transform_fixed.c.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { HALF = 4, EXPECTED = 56 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int values[2 * HALF] = {0, 1, 2, 3, 4, 5, 6, 7};
static int sum;

static void transform(int from) {
    int part = 0;
    for (int at = from; at < from + HALF; at++) {
        values[at] *= 2;
        part += values[at];
    }
    pthread_mutex_lock(&lock);
    sum += part;
    pthread_mutex_unlock(&lock);
}

static void *second(void *unused) {
    transform(HALF);
    return unused;
}

static int print(void) {
    pthread_mutex_lock(&lock);
    int all = sum;
    pthread_mutex_unlock(&lock);
    printf("checksum %d\n", all);
    return all == EXPECTED ? 0 : 3;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, second, NULL);
    transform(0);
#ifdef FIXED
    pthread_join(worker, NULL);
    return print();
#else
    usleep(1000);
    int status = print();
    pthread_join(worker, NULL);
    return status;
#endif
}
