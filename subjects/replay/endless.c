// A thread counts for ever, and the first thread waits for its end.
#include <pthread.h>

static int count, limit = -1;

static void *step(void *arg) {
    while (count != limit) { // look
        if (++count < 0) count = 0;
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, step, NULL);
    pthread_join(thread, NULL);
    return 0;
}
