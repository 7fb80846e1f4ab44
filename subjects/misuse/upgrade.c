// A reader of a table fills it if it is still empty.
// Bug: it takes the lock for writing while it holds it for reading.
// Consequence: misuse, if the reader comes before the filler.
// The twin is upgrade_fixed.c.
#include <pthread.h>
#include <stdio.h>

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static int entry, fills;

static void fill(void) {
    pthread_rwlock_wrlock(&table);
    if (entry == 0) {
        entry = 7;
        fills++;
    }
    pthread_rwlock_unlock(&table);
}

static void *prepare(void *unused) {
    fill();
    return unused;
}

static void *look_up(void *unused) {
    pthread_rwlock_rdlock(&table);
    int missing = entry == 0;
    if (missing) fill();
    pthread_rwlock_unlock(&table);
    return unused;
}

int main(void) {
    pthread_t filler, reader;
    if (pthread_create(&filler, NULL, prepare, NULL) != 0) return 2;
    if (pthread_create(&reader, NULL, look_up, NULL) != 0) return 2;
    pthread_join(filler, NULL);
    pthread_join(reader, NULL);
    printf("%d\n", fills);
    return 0;
}
