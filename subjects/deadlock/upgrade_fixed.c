// The twin of upgrade.c: two readers of a catalog find that a page is missing, and become writers.
// A reader stops reading before it takes its turn.
// Finds: nothing harmful
#include <pthread.h>
#include <stdio.h>

static pthread_rwlock_t catalog = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t upgrade = PTHREAD_MUTEX_INITIALIZER;
static int pages;

/* A reader that finds a page missing becomes the writer; one at a time. */
static void *look_up(void *unused) {
    pthread_rwlock_rdlock(&catalog);
    int missing = pages < 2;
    pthread_rwlock_unlock(&catalog);
    pthread_mutex_lock(&upgrade);
    pthread_rwlock_wrlock(&catalog);
    if (missing) pages++;
    pthread_rwlock_unlock(&catalog);
    pthread_mutex_unlock(&upgrade);
    return unused;
}

int main(void) {
    pthread_t one, other;
    if (pthread_create(&one, NULL, look_up, NULL) != 0) return 2;
    if (pthread_create(&other, NULL, look_up, NULL) != 0) return 2;
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    printf("pages: %d\n", pages);
    return 0;
}
