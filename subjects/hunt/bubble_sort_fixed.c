// The twin of bubble_sort.c: two threads go over an array once each and exchange neighbours that
// are in the wrong order. An exchange is one critical section.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { SIZE = 3 };

static int numbers[SIZE] = { 4, 2, 1 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void arrange(int at) {
    pthread_mutex_lock(&lock);
    int left = numbers[at];
    int right = numbers[at + 1];
    if (left > right) {
        numbers[at] = right;
        numbers[at + 1] = left;
    }
    pthread_mutex_unlock(&lock);
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
