// 20,000 threads, one after another; each adds one to `total`.
// Events: 20,000 forks and joins of T0.1 to T0.20000, and the writes 1 to 20,000 of `total`.
#include <pthread.h>
#include <stdio.h>

static int total;

static void *add(void *unused) {
    total++;
    return unused;
}

int main(void) {
    for (int i = 0; i < 20000; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, add, NULL) != 0) return 1;
        pthread_join(thread, NULL);
    }
    printf("%d\n", total);
    return 0;
}
