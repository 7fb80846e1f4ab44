// A logger writes into a page that another thread closes and frees.
// Bug: the logger looks whether the page is closed and then writes, with nothing that keeps it open
// in between.
// Consequence: use after free; without a checker a crash (SIGSEGV), for the page is so large that
// `free` gives it back to the system.
// The twin, late_use_fixed.c, never fails.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 1 << 20 };

static char *page;
static atomic_int closed;
static int written;

static void *log_late(void *unused) {
    char *mine = page;
    int is_closed = atomic_load(&closed); /* A1 */
    if (!is_closed) {
        mine[SIZE / 2] = 'x'; /* A2 */
        written++;
    }
    return unused;
}

static void *finish(void *unused) {
    atomic_store(&closed, 1); /* B1 */
    free(page);               /* B2 */
    return unused;
}

int main(void) {
    pthread_t logger, closer;
    page = malloc(SIZE);
    if (page == NULL) return 2;
    if (pthread_create(&logger, NULL, log_late, NULL) != 0) return 2;
    if (pthread_create(&closer, NULL, finish, NULL) != 0) return 2;
    pthread_join(logger, NULL);
    pthread_join(closer, NULL);
    printf("written: %d\n", written);
    return 0;
}
