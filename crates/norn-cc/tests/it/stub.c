/* A runtime that counts. It has every hook that the compilers insert, and one function that
   stands before libc's, so that a program that ran with it tells who was called. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int reads, writes, volatiles, entries, atomics, locks;

#define ACCESS(kind, n, counter)                                                              \
    void __tsan_##kind##n(void *at) { (void)at; counter++; }
#define SIZED(n)                                                                              \
    ACCESS(read, n, reads) ACCESS(write, n, writes)                                           \
    ACCESS(unaligned_read, n, reads) ACCESS(unaligned_write, n, writes)                       \
    ACCESS(volatile_read, n, volatiles) ACCESS(volatile_write, n, volatiles)                  \
    ACCESS(unaligned_volatile_read, n, volatiles) ACCESS(unaligned_volatile_write, n, volatiles)
SIZED(1) SIZED(2) SIZED(4) SIZED(8) SIZED(16)

void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; entries++; }
void __tsan_func_exit(void) {}
void __tsan_read_range(void *at, size_t size) { (void)at; (void)size; reads++; }
void __tsan_write_range(void *at, size_t size) { (void)at; (void)size; writes++; }
void __tsan_vptr_update(void **at, void *value) { (void)at; (void)value; }
void __tsan_vptr_read(void **at) { (void)at; }
void *__tsan_memcpy(void *to, const void *from, size_t size) { return memcpy(to, from, size); }
void *__tsan_memmove(void *to, const void *from, size_t size) { return memmove(to, from, size); }
void *__tsan_memset(void *to, int byte, size_t size) { return memset(to, byte, size); }

#define FETCH(bits, type, what)                                                               \
    type __tsan_atomic##bits##_fetch_##what(volatile type *at, type value, int order) {       \
        (void)order;                                                                          \
        atomics++;                                                                            \
        return __atomic_fetch_##what(at, value, __ATOMIC_SEQ_CST);                            \
    }
#define EXCHANGE(bits, type, how, weak)                                                       \
    int __tsan_atomic##bits##_compare_exchange_##how(volatile type *at, type *old, type new,  \
                                                     int order, int failure) {                \
        (void)order;                                                                          \
        (void)failure;                                                                        \
        atomics++;                                                                            \
        return __atomic_compare_exchange_n(at, old, new, weak, 5, 5);                         \
    }
#define ATOMIC(bits, type)                                                                    \
    type __tsan_atomic##bits##_load(const volatile type *at, int order) {                     \
        (void)order;                                                                          \
        atomics++;                                                                            \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                         \
    }                                                                                         \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order) {              \
        (void)order;                                                                          \
        atomics++;                                                                            \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                        \
    }                                                                                         \
    type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order) {           \
        (void)order;                                                                          \
        atomics++;                                                                            \
        return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                              \
    }                                                                                         \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type old, type new,    \
                                                    int order, int failure) {                 \
        (void)order;                                                                          \
        (void)failure;                                                                        \
        atomics++;                                                                            \
        __atomic_compare_exchange_n(at, &old, new, 0, 5, 5);                                  \
        return old;                                                                           \
    }                                                                                         \
    EXCHANGE(bits, type, strong, 0) EXCHANGE(bits, type, weak, 1)                             \
    FETCH(bits, type, add) FETCH(bits, type, sub) FETCH(bits, type, and)                      \
    FETCH(bits, type, or) FETCH(bits, type, xor) FETCH(bits, type, nand)
ATOMIC(8, uint8_t) ATOMIC(16, uint16_t) ATOMIC(32, uint32_t) ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order) { (void)order; atomics++; }
void __tsan_atomic_signal_fence(int order) { (void)order; }

#ifdef NORN_STATIC
int __real_pthread_mutex_lock(pthread_mutex_t *);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
    locks++;
    return __real_pthread_mutex_lock(mutex);
}
#else
int pthread_mutex_lock(pthread_mutex_t *mutex) {
    locks++;
    int (*real)(pthread_mutex_t *);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    return real(mutex);
}
#endif

__attribute__((destructor)) static void report(void) {
    fprintf(stderr, "reads=%d writes=%d volatiles=%d entries=%d atomics=%d locks=%d\n", reads,
            writes, volatiles, entries, atomics, locks);
}
