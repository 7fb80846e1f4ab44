// The twin of late_use.c: the logger looks and writes under the mutex under which the page is
// closed, and it is freed only then. Nobody writes to a freed page: it never fails.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *page;
static atomic_int closed;
static int written;

static void *log_late(void *unused) {
    char *mine = page;
    pthread_mutex_lock(&lock);
    int is_closed = atomic_load(&closed); /* A1 */
    if (!is_closed) {
        mine[SIZE / 2] = 'x'; /* A2 */
        written++;
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *finish(void *unused) {
    pthread_mutex_lock(&lock);
    atomic_store(&closed, 1); /* B1 */
    pthread_mutex_unlock(&lock);
    free(page); /* B2 */
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
