// Two threads each wait for the other's flag and never put up their own.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready[2];
static int one_of[2] = { 0, 1 };

static void *spin(void *arg) {
    int mine = *(int *)arg;
    while (atomic_load(&ready[1 - mine]) == 0) { // look
    }
    atomic_store(&ready[mine], 1);
    return NULL;
}

int main(void) {
    pthread_t thread[2];
    atomic_store(&ready[0], 0); // write
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, spin, &one_of[i]);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    return 0;
}
