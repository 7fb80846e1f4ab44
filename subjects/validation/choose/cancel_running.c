// A thread fires a periodic timer; a timer is armed again after its callback. `cancel` waits for a callback that
// is running, and frees the timer.
// Bug (use after free): whether the timer is cancelled is checked before its callback, and not again before it
// is armed again.
// Deep: `cancel` must come while the callback runs, which it never does in a run without switches.
// Consequence: use after free
// The twin is cancel_running_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct timer { int rounds; int cancelled; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static struct timer *armed, *running;
static atomic_int calls;

static void callback(void) { atomic_fetch_add(&calls, 1); }

static void *fire(void *unused) {
    (void)unused;
    for (int tick = 0; tick < 3; tick++) {
        pthread_mutex_lock(&lock);
        struct timer *timer = armed;
        armed = NULL;
        if (!timer || timer->cancelled) {
            pthread_mutex_unlock(&lock);
            continue;
        }
        running = timer;
        pthread_mutex_unlock(&lock);
        callback();
        pthread_mutex_lock(&lock);
        running = NULL;
#ifdef FIXED
        if (!timer->cancelled) armed = timer;
#else
        armed = timer;
#endif
        timer->rounds++;
        pthread_cond_broadcast(&done);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *cancel(void *arg) {
    struct timer *timer = arg;
    pthread_mutex_lock(&lock);
    if (armed == timer) {
        armed = NULL;
    } else {
        timer->cancelled = 1;
        while (running == timer) pthread_cond_wait(&done, &lock);
    }
    pthread_mutex_unlock(&lock);
    free(timer);
    return NULL;
}

int main(void) {
    struct timer *timer = calloc(1, sizeof *timer);
    armed = timer;
    pthread_t firing, cancelling;
    pthread_create(&firing, NULL, fire, NULL);
    pthread_create(&cancelling, NULL, cancel, timer);
    pthread_join(firing, NULL);
    pthread_join(cancelling, NULL);
    printf("cancelled\n");
    return 0;
}
