// One thread waits for a byte in a pipe, but not for long each time; others sleep and count, and one
// of them writes the byte in the end.
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2];
static int count, tries;

static void *wait_for_byte(void *unused) {
    struct pollfd polled = {ends[0], POLLIN, 0};
    while (poll(&polled, 1, 3) == 0) tries++;
    return unused;
}

static void *work(void *writes) {
    for (int i = 0; i < 4; i++) {
        usleep(2000);
        count++;
    }
    if (writes) write(ends[1], "x", 1);
    return NULL;
}

int main(void) {
    pthread_t thread[3];
    if (pipe(ends) != 0) return 2;
    pthread_create(&thread[0], NULL, wait_for_byte, NULL);
    pthread_create(&thread[1], NULL, work, &count);
    pthread_create(&thread[2], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
    printf("%d\n", tries);
    return 0;
}
