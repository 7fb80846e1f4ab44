// The first thread ends before the others and the process lives on.
// Events: T0 forks T0.1 and ends; T0.1 joins T0 and writes 1 to `last`.
#include <pthread.h>
#include <stdio.h>

static pthread_t first;
static int last;

static void *outlive(void *unused) {
    pthread_join(first, NULL);
    last = 1;
    puts("alone");
    return unused;
}

int main(void) {
    pthread_t thread;
    first = pthread_self();
    pthread_create(&thread, NULL, outlive, NULL);
    pthread_exit(NULL);
}
