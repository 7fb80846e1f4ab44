// A spin lock.
// Events of T0: init, acquire, fork, join, release, acquire by trying, release, destroy. T0.1
// tries while it is taken: EBUSY (16).
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static pthread_spinlock_t spin;

static void *late(void *unused) {
    printf("%d\n", pthread_spin_trylock(&spin) == EBUSY);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_spin_lock(&spin);
    pthread_create(&thread, NULL, late, NULL);
    pthread_join(thread, NULL);
    pthread_spin_unlock(&spin);
    printf("%d\n", pthread_spin_trylock(&spin));
    pthread_spin_unlock(&spin);
    pthread_spin_destroy(&spin);
    return 0;
}
