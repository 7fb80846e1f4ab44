// Items are added to a buffer, and flushed when there are two.
// The thread flushes after it has unlocked.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items, flushed;

static void flush(void) {
    pthread_mutex_lock(&lock);
    flushed += items;
    items = 0;
    pthread_mutex_unlock(&lock);
}

static void *add(void *unused) {
    pthread_mutex_lock(&lock);
    items++;
    int full = items == 2;
    pthread_mutex_unlock(&lock);
    if (full) flush();
    return unused;
}

static void *drain(void *unused) {
    flush();
    return unused;
}

int main(void) {
    pthread_t one, other, drainer;
    if (pthread_create(&one, NULL, add, NULL) != 0) return 2;
    if (pthread_create(&drainer, NULL, drain, NULL) != 0) return 2;
    if (pthread_create(&other, NULL, add, NULL) != 0) return 2;
    pthread_join(one, NULL);
    pthread_join(drainer, NULL);
    pthread_join(other, NULL);
    flush();
    printf("%d\n", flushed);
    return 0;
}
