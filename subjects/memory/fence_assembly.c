// A producer fills in a message and sets a flag; a consumer that sees the flag reads the message.
// The consumer has a fence in assembly.
// Bug: the producer has none, and the flag is relaxed, so nothing orders the message.
// Finds: race on message; none
// The twin is fence_assembly_fixed.c.
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
    __atomic_store_n(&ready, 1, __ATOMIC_RELAXED);
    pthread_join(consumer, NULL);
    return 0;
}
