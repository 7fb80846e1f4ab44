// A timer that expires in a thread after 2 ms. The first thread looks once, after 3 ms.
// Finds: order on expired; exit
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int expired, seen;

static void on_expiry(union sigval value) {
    (void)value;
    pthread_mutex_lock(&lock);
    expired = 1;
    pthread_mutex_unlock(&lock);
}

static int has_expired(void) {
    pthread_mutex_lock(&lock);
    int result = expired;
    pthread_mutex_unlock(&lock);
    return result;
}

int main(void) {
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_expiry };
    struct itimerspec soon = { .it_value.tv_nsec = 2000000 };
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &soon, NULL);
    usleep(3000);
    seen = has_expired();
    timer_delete(timer);
    return !seen;
}
