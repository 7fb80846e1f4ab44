// Threads move money between a few accounts without a lock, and read a total. The argument is the
// number of threads. For the study of window sizes.
#include <pthread.h>
#include <stdlib.h>

#define ACCOUNTS 4

static long accounts[ACCOUNTS] = {100, 100, 100, 100};
static long total = 400;

static void *clerk(void *argument) {
    unsigned number = (unsigned)(size_t)argument;
    for (int i = 0; i < 3; i++) {
        unsigned from = (number + i) % ACCOUNTS, to = (number + i + 1) % ACCOUNTS;
        if (accounts[from] > 10) {
            accounts[from] -= 10;
            accounts[to] += 10;
        }
        total = total + accounts[from] - accounts[from];
    }
    return NULL;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 4;
    pthread_t *threads = malloc(sizeof *threads * count);
    for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, clerk, (void *)(size_t)i);
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    free(threads);
    return 0;
}
