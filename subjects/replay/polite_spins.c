// Two threads each wait for the other's flag, never put up their own, and let others go first meanwhile.
#include <pthread.h>
#include <sched.h>

static int ready[2];
static int one_of[2] = { 0, 1 };

static void *spin(void *arg) {
    int mine = *(int *)arg;
    while (__atomic_load_n(&ready[1 - mine], __ATOMIC_ACQUIRE) == 0) sched_yield();
    __atomic_store_n(&ready[mine], 1, __ATOMIC_RELEASE);
    return NULL;
}

int main(void) {
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, spin, &one_of[i]);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    return 0;
}
