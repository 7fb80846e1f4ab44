// Two clerks count what they sell and what they earn.
// Bug: each count is read and written under the lock, but not in one critical section, so an update
// of either can be lost. Both are noticed at the end, at different places, with the same status.
// The twin is two_exits_fixed.c.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sold, earned;

static void sell(void) {
    pthread_mutex_lock(&lock);
    int seen = sold;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    sold = seen + 1;
    pthread_mutex_unlock(&lock);
}

static void earn(void) {
    pthread_mutex_lock(&lock);
    int seen = earned;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    earned = seen + 1;
    pthread_mutex_unlock(&lock);
}

static void *clerk(void *unused) {
    sell();
    earn();
    return unused;
}

static __attribute__((noinline)) void count_goods(void) {
    if (sold != 2) exit(1);
}

static __attribute__((noinline)) void count_money(void) {
    if (earned != 2) exit(1);
}

int main(void) {
    pthread_t clerks[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&clerks[i], NULL, clerk, NULL) != 0) return 2;
    for (int i = 0; i < 2; i++) pthread_join(clerks[i], NULL);
    count_goods();
    count_money();
    return 0;
}
