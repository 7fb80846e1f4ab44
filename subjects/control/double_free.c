// Two threads share a block; the last to leave frees it.
// Bug: each counts itself out under the mutex, but looks only afterwards whether it was the last.
// If both are out before either looks, both were.
// Consequence: double free; without a checker a crash (SIGSEGV, unless both free in the same
// instant), for the block is so large that `free` gives it back to the system.
// The twin, double_free_fixed.c, never fails.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users = 2;
static char *block;

static void *leave(void *unused) {
    char *mine = block;
    pthread_mutex_lock(&lock);
    mine[0]++;
    users--;
    pthread_mutex_unlock(&lock); /* A1 */
    int left = users;            /* A2 */
    if (left == 0) {
        free(mine); /* A3 */
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    block = calloc(1, SIZE);
    if (block == NULL) return 2;
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, leave, NULL) != 0) return 2;
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("users: %d\n", users);
    return 0;
}
