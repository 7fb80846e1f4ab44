// The twin of fence_assembly.c: a producer fills in a message and sets a flag.
// Both threads have a fence in assembly. No trace contains these fences; Norn finds them in the code.
// Finds: nothing harmful
#include <pthread.h>
#include <stdio.h>

static int message;
static int ready;

static void *consume(void *argument) {
    while (!__atomic_load_n(&ready, __ATOMIC_RELAXED)) {}
    __asm__ volatile("lfence" ::: "memory");
    printf("%d\n", message);
    return argument;
}

int main(void) {
    pthread_t consumer;
    pthread_create(&consumer, NULL, consume, NULL);
    message = 42;
    __asm__ volatile("mfence" ::: "memory");
    __atomic_store_n(&ready, 1, __ATOMIC_RELAXED);
    pthread_join(consumer, NULL);
    return 0;
}
