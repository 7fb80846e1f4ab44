// Readers of a catalog count themselves out; the first thread closes the catalog when none is left.
// Bug: a reader counts itself out while it still holds the lock for reading.
// Finds: lock-misuse on catalog; misuse
// The twin is destroy_read_fixed.c.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct catalog {
    pthread_rwlock_t lock;
    int pages;
};

static atomic_int readers_left = 2;

static void *look_up(void *argument) {
    struct catalog *catalog = argument;
    pthread_rwlock_rdlock(&catalog->lock);
    int pages = catalog->pages;
    atomic_fetch_sub(&readers_left, 1);
    pthread_rwlock_unlock(&catalog->lock);
    return pages == 3 ? NULL : argument;
}

int main(void) {
    static struct catalog catalog = {.pages = 3};
    pthread_t reader[2];
    pthread_rwlock_init(&catalog.lock, NULL);
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&reader[i], NULL, look_up, &catalog) != 0) return 2;
    }
    while (atomic_load(&readers_left) > 0) {
    }
    pthread_rwlock_destroy(&catalog.lock);
    for (int i = 0; i < 2; i++) pthread_join(reader[i], NULL);
    puts("closed");
    return 0;
}
