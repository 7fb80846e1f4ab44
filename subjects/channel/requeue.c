// Two workers wait for a condition that is made of futexes, whose broadcast wakes one of them and lets the
// other one wait for the lock.
// Bug: they add to a total before they take the lock.
// Finds: race on total; assertion
// The twin is requeue_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static int total;
static unsigned lock_word, broadcasts;

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static long futex(unsigned *word, int operation, unsigned value, unsigned long limit, unsigned *other, unsigned now) {
    return syscall(SYS_futex, word, operation, value, limit, other, now);
}

static void lock(void) {
    while (__atomic_exchange_n(&lock_word, 1, __ATOMIC_ACQUIRE))
        futex(&lock_word, FUTEX_WAIT_PRIVATE, 1, 0, NULL, 0);
}

static void unlock(void) {
    __atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE);
    futex(&lock_word, FUTEX_WAKE_PRIVATE, 1, 0, NULL, 0);
}

static void *work(void *argument) {
    while (__atomic_load_n(&broadcasts, __ATOMIC_ACQUIRE) == 0)
        futex(&broadcasts, FUTEX_WAIT_PRIVATE, 0, 0, NULL, 0);
#ifndef FIXED
    add();
#endif
    lock();
#ifdef FIXED
    add();
#endif
    unlock();
    return argument;
}

int main(void) {
    pthread_t workers[2];
    for (int i = 0; i < 2; i++) pthread_create(&workers[i], NULL, work, NULL);
    lock();
    __atomic_store_n(&broadcasts, 1, __ATOMIC_RELEASE);
    futex(&broadcasts, FUTEX_CMP_REQUEUE_PRIVATE, 1, INT_MAX, &lock_word, 1);
    unlock();
    for (int i = 0; i < 2; i++) pthread_join(workers[i], NULL);
    assert(total == 2);
    return 0;
}
