// A sleep until a time, not for a time: 1 ms from now.
// Events: a sleep of at most a second, not of the years since the clock began.
#define _GNU_SOURCE
#include <stdio.h>
#include <time.h>

int main(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 1000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    printf("%d\n", clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL));
    return 0;
}
