// A thread that cannot be created: its stack would be larger than memory.
// Events: the failed attempt leaves no fork, and the thread created after it is T0.1.
#include <pthread.h>
#include <stdio.h>

static int ran;

static void *run(void *unused) {
    ran = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, 1ul << 46);
    printf("%d\n", pthread_create(&thread, &huge, run, NULL) != 0);
    pthread_attr_destroy(&huge);
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    printf("%d\n", ran);
    return 0;
}
