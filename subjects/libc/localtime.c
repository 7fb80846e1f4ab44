// Two threads ask for the hour of a time by `localtime`.
// Bug: both get the same structure, which the second call overwrites.
// Consequence: assertion
// The twin is localtime_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <time.h>

static int day_of(const time_t *time) {
    struct tm *parts = localtime(time);
    return parts->tm_mday;
}

static void *work(void *argument) {
    time_t time = 5 * 86400 + 43200;
    assert(day_of(&time) == 6);
    return argument;
}

int main(void) {
    pthread_t worker;
    time_t time = 43200;
    pthread_create(&worker, NULL, work, NULL);
    assert(day_of(&time) == 1);
    pthread_join(worker, NULL);
    return 0;
}
