// What a program tells about synchronisation of its own, by the functions of ThreadSanitizer.
// Events: happens-before on `token`, then happens-after; a custom lock taken and given back; a
// failed try of it. Built without Norn there is nobody to tell: HOOKED is not defined then.
#include <stdio.h>

void __tsan_acquire(void *);
void __tsan_release(void *);
void __tsan_mutex_pre_lock(void *, unsigned);
void __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);

static int token, lock;

int main(void) {
#ifdef HOOKED
    __tsan_release(&token);
    __tsan_acquire(&token);
    __tsan_mutex_pre_lock(&lock, 0);
    __tsan_mutex_post_lock(&lock, 0, 0);
    __tsan_mutex_pre_unlock(&lock, 0);
    __tsan_mutex_post_unlock(&lock, 0);
    __tsan_mutex_pre_lock(&lock, 1 << 4);
    __tsan_mutex_post_lock(&lock, 1 << 4 | 1 << 5, 0);
#endif
    printf("%d\n", token + lock);
    return 0;
}
