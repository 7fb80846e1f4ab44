// Two threads count under a spin lock in assembly, which Norn cannot see: one that finds it locked waits in a
// loop without any event. Prints how long the program computed, in milliseconds.
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>

static int word, counter;

static int exchange(int value) {
    __asm__ volatile("xchgl %0, %1" : "+r"(value), "+m"(word) : : "memory");
    return value;
}

static void *count(void *unused) {
    while (exchange(1)) __asm__ volatile("pause");
    counter++; // count
    exchange(0);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, count, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%ld\n", used.ru_utime.tv_sec * 1000 + used.ru_utime.tv_usec / 1000);
    return counter != 2;
}
