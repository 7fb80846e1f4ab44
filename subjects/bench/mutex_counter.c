// Two threads add to one counter under one mutex: nothing but locking.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counter;
static long rounds;

static void *work(void *unused) {
    for (long i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atol(argv[1]) : 1000000;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%ld\n", counter);
    return counter != 2 * rounds;
}
