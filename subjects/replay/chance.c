// Two threads print what a device and the kernel draw for them by chance.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

static void *draw(void *device) {
    unsigned drawn[3] = {0};
    int file = open(device, O_RDONLY);
    if (read(file, &drawn[0], sizeof drawn[0]) < 0) return NULL;
    close(file);
    if (getrandom(&drawn[1], sizeof drawn[1], 0) < 0 || getentropy(&drawn[2], sizeof drawn[2])) return NULL;
    pthread_mutex_lock(&output);
    printf("%08x %08x %08x\n", drawn[0], drawn[1], drawn[2]);
    pthread_mutex_unlock(&output);
    return NULL;
}

int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, draw, "/dev/urandom")) return 2;
    draw("/dev/urandom");
    pthread_join(thread, NULL);
    return 0;
}
