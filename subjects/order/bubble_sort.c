// Two threads go over an array, each from one end to where the one before has to stop, and exchange
// neighbours that are in the wrong order.
// Bug: the second, shorter way is only right after the first one, and nothing makes it wait.
// Finds: order on numbers; assertion
// The twin is bubble_sort_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { SIZE = 3 };

static int numbers[SIZE] = { 3, 2, 1 };
static int ways;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gone = PTHREAD_COND_INITIALIZER;

static void *bubble(void *argument) {
    int way = *(int *)argument;
    pthread_mutex_lock(&lock);
    for (int at = 0; at + 1 < SIZE - way; at++) {
        if (numbers[at] > numbers[at + 1]) {
            int larger = numbers[at];
            numbers[at] = numbers[at + 1];
            numbers[at + 1] = larger;
        }
    }
    ways++;
    pthread_cond_broadcast(&gone);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int names[2] = { 0, 1 };
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, bubble, &names[i]) != 0) return 2;
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < SIZE; i++) assert(numbers[i] == i + 1);
    printf("sorted\n");
    return 0;
}
