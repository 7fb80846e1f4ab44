// Two threads go over an array once each and exchange neighbours that are in the wrong order.
// Bug: each number is read and written under the lock, but the four accesses of an exchange are not
// one critical section: a number can be lost.
// Finds: atomic-set on numbers; assertion
// The twin is bubble_sort_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { SIZE = 3 };

static int numbers[SIZE] = { 4, 2, 1 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int get(int at) {
    pthread_mutex_lock(&lock);
    int number = numbers[at];
    pthread_mutex_unlock(&lock);
    return number;
}

static void set(int at, int number) {
    pthread_mutex_lock(&lock);
    numbers[at] = number;
    pthread_mutex_unlock(&lock);
}

static void arrange(int at) {
    int left = get(at);
    int right = get(at + 1);
    if (left > right) {
        set(at, right);
        set(at + 1, left);
    }
}

static void *bubble(void *unused) {
    (void)unused;
    for (int at = 0; at + 1 < SIZE; at++) arrange(at);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, bubble, NULL) != 0) return 2;
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < SIZE; i++) sum += numbers[i];
    printf("sum: %d\n", sum);
    assert(sum == 7);
    return 0;
}
