// A thread has ended, but in some runs it takes its time to be gone: it sleeps in a destructor, after
// all that is recorded. Then main creates another thread, which gets the stack of the first one if
// that is no longer in use.
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <x86intrin.h>

static pthread_key_t key;
static __thread int round;

/* Sleeps in a way that nobody sees, or not: as the processor's clock has it. */
__attribute__((no_sanitize("thread"))) static void maybe_sleep(long nanoseconds) {
    long time[2] = {0, nanoseconds}, result;
    if (__rdtsc() >> 16 & 1) {
        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "a"(SYS_nanosleep), "D"(time), "S"(0)
                         : "rcx", "r11", "memory");
    }
}

/* Runs in each of the four rounds; in the last one the recorder has left already. */
__attribute__((no_sanitize("thread"))) static void leave(void *value) {
    if (++round < 4) {
        pthread_setspecific(key, value);
    } else {
        maybe_sleep(300000000);
    }
}

static void *first(void *value) {
    pthread_setspecific(key, value);
    pthread_detach(pthread_self());
    return NULL;
}

static void *second(void *value) {
    int here = 1;
    *(int **)value = &here;
    return NULL;
}

int main(void) {
    pthread_t thread;
    int *where = NULL;
    pthread_key_create(&key, leave);
    if (pthread_create(&thread, NULL, first, &key) != 0) return 2;
    if (pthread_create(&thread, NULL, second, &where) != 0) return 2;
    pthread_join(thread, NULL);
    printf("%p\n", (void *)where);
    return 0;
}
