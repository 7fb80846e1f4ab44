// Two threads add what a device draws for them to a total, without a lock.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static unsigned total;

static void *draw(void *drawn) {
    int file = open("/dev/urandom", O_RDONLY);
    if (read(file, drawn, sizeof(unsigned)) < 0) return NULL;
    close(file);
    total += *(unsigned *)drawn;
    return NULL;
}

int main(void) {
    pthread_t thread;
    unsigned drawn[2];
    pthread_create(&thread, NULL, draw, &drawn[0]);
    draw(&drawn[1]);
    pthread_join(thread, NULL);
    printf("%08x %08x\n", drawn[0], drawn[1]);
    fflush(stdout);
    assert(total == drawn[0] + drawn[1]);
    return 0;
}
