// A timer that expires in a thread after 2 ms. The first thread deletes it after 3 ms, and frees what it uses: the call
// may have begun, or be about to begin.
// Finds: lifetime on context; use after free
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct context {
    int calls;
    sem_t done;
};

static void on_expiry(union sigval value) {
    struct context *context = value.sival_ptr;
    context->calls++;
    sem_post(&context->done);
}

int main(void) {
    timer_t timer;
    struct context *context = calloc(1, sizeof *context);
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_expiry };
    struct itimerspec soon = { .it_value.tv_nsec = 2000000 };
    sem_init(&context->done, 0, 0);
    event.sigev_value.sival_ptr = context;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &soon, NULL);
    usleep(3000);
    timer_delete(timer);
    free(context);
    return 0;
}
