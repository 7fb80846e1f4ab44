// Four threads add one to `total` under a lock, 2,500 times each.
// Events: in the order of the lock's sequence numbers, the values read of `total` are 0, 1, 2, … and
// those written 1, 2, 3, ….
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *add(void *unused) {
    for (int i = 0; i < 2500; i++) {
        pthread_mutex_lock(&m);
        total++;
        pthread_mutex_unlock(&m);
    }
    return unused;
}

int main(void) {
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, add, NULL);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    printf("%d\n", total);
    return 0;
}
