// Timers are fired by one thread and cancelled by others; whoever takes a timer out of its slot frees it.
// Bug (double free): `cancel` reads the slot in one critical section and clears it in the next one.
// Consequence: double free
// The twin is timer_cancel_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 4 };

struct timer {
    int due;
    void (*action)(struct timer *);
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timer *slots[SLOTS];
static int fired;

static void count_it(struct timer *timer) {
    fired += timer->due;
}

static void start_timer(int slot, int due) {
    struct timer *timer = malloc(sizeof *timer);
    assert(timer != NULL);
    timer->due = due;
    timer->action = count_it;
    pthread_mutex_lock(&lock);
    slots[slot] = timer;
    pthread_mutex_unlock(&lock);
}

static void *fire_all(void *unused) {
    for (int i = 0; i < SLOTS; i++) {
        pthread_mutex_lock(&lock);
        struct timer *timer = slots[i];
        slots[i] = NULL;
        if (timer != NULL) timer->action(timer);
        pthread_mutex_unlock(&lock);
        free(timer);
    }
    return unused;
}

static void cancel(int slot) {
    pthread_mutex_lock(&lock);
    struct timer *timer = slots[slot];
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    if (timer == NULL) return;
    pthread_mutex_lock(&lock);
#endif
    slots[slot] = NULL;
    pthread_mutex_unlock(&lock);
    free(timer);
}

static void *close_all(void *unused) {
    cancel(1);
    cancel(3);
    return unused;
}

int main(void) {
    pthread_t clock, user;
    for (int i = 0; i < SLOTS; i++) start_timer(i, i + 1);
    pthread_create(&user, NULL, close_all, NULL);
    pthread_create(&clock, NULL, fire_all, NULL);
    pthread_join(user, NULL);
    pthread_join(clock, NULL);
    printf("fired: %d\n", fired);
    return 0;
}
