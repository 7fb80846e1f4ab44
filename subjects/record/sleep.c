// All ways to sleep and to yield.
// Events, in this order: sleeps of 0 s, 1000 us, 2000 us, 3000 us and 4000 us; three yields.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

int main(void) {
    struct timespec two = { 0, 2000000 }, three = { 0, 3000000 }, four = { 0, 4000000 };
    sleep(0);
    usleep(1000);
    nanosleep(&two, NULL);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &three, NULL);
    thrd_sleep(&four, NULL);
    sched_yield();
    thrd_yield();
    sched_yield();
    puts("awake");
    return 0;
}
