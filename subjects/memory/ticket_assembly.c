// Two threads count their entries with a ticket lock in inline assembly, which an ordinary instruction releases.
// Bug: the first thread counts one of its entries without the lock.
// Finds: race on entries; none
// The twin is ticket_assembly_fixed.c.
#include <pthread.h>

static volatile unsigned next, serving;
static int entries;

static void lock(void) {
    unsigned mine = 1, now;
    __asm__ volatile("lock xaddl %0, %1" : "+r"(mine), "+m"(next) : : "memory");
    do __asm__ volatile("pause; movl %1, %0" : "=r"(now) : "m"(serving) : "memory");
    while (now != mine);
}

static void unlock(void) { __asm__ volatile("incl %0" : "+m"(serving) : : "memory"); }

static void *enter(void *argument) {
    lock();
    entries++;
    unlock();
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, enter, NULL);
#ifndef FIXED
    entries++;
#endif
    enter(NULL);
    pthread_join(thread, NULL);
    return entries < 2;
}
