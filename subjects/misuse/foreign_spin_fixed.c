// A worker holds a spin lock while it works; the first thread resets the lock.
// The reset comes after the worker has ended.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_spinlock_t slot;
static atomic_int taken;
static int jobs;

static void *work(void *unused) {
    pthread_spin_lock(&slot);
    atomic_store(&taken, 1);
    jobs++;
    atomic_store(&taken, 0);
    pthread_spin_unlock(&slot);
    return unused;
}

static void reset(void) {
    if (atomic_load(&taken)) pthread_spin_unlock(&slot);
}

int main(void) {
    pthread_t worker;
    pthread_spin_init(&slot, PTHREAD_PROCESS_PRIVATE);
    if (pthread_create(&worker, NULL, work, NULL) != 0) return 2;
    pthread_join(worker, NULL);
    reset();
    printf("%d\n", jobs);
    return 0;
}
