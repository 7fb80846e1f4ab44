// Two threads take two locks in different orders. The locks are the program's own, made of atomic
// operations, and described by ThreadSanitizer's annotations.
// Bug: one thread takes them in the other order.
// Finds: deadlock on left, right; deadlock
// The twin is own_lock_fixed.c.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

void __tsan_mutex_create(void *lock, unsigned flags);
void __tsan_mutex_destroy(void *lock, unsigned flags);
void __tsan_mutex_pre_lock(void *lock, unsigned flags);
void __tsan_mutex_post_lock(void *lock, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void *lock, unsigned flags);
void __tsan_mutex_post_unlock(void *lock, unsigned flags);

struct lock {
    atomic_int taken;
    int owner; // not atomic: only the code of the lock uses it
};

static struct lock left, right;
static int moved;

static void lock(struct lock *it) {
    __tsan_mutex_pre_lock(it, 0);
    while (atomic_exchange(&it->taken, 1)) {
        it->owner = it->owner;
        sched_yield();
    }
    __tsan_mutex_post_lock(it, 0, 0);
}

static void unlock(struct lock *it) {
    __tsan_mutex_pre_unlock(it, 0);
    it->owner = 0;
    atomic_store(&it->taken, 0);
    __tsan_mutex_post_unlock(it, 0);
}

static void move(struct lock *from, struct lock *to) {
    lock(from);
    lock(to);
    moved++;
    unlock(to);
    unlock(from);
}

static void *worker(void *arg) {
    move(&right, &left);
    return arg;
}

int main(void) {
    pthread_t thread;
    __tsan_mutex_create(&left, 0);
    __tsan_mutex_create(&right, 0);
    pthread_create(&thread, NULL, worker, NULL);
    move(&left, &right);
    pthread_join(thread, NULL);
    __tsan_mutex_destroy(&left, 0);
    __tsan_mutex_destroy(&right, 0);
    return 0;
}
