// Readers use a table without a lock, and announce from time to time that they hold no pointer to it. A writer
// that replaces the table frees the old one when all readers have announced that; if that takes too long, it
// leaves it to the end of the program.
// Bug (use after free): a reader that finds the table replaced meanwhile announces it in `note_change`, and
// then uses the old table once more.
// Deep: the table must be replaced between two loads of the pointer, the writer must look before the
// announcement and free after it.
// Consequence: use after free
// The twin is quiescent_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct table { int size; };

static struct table *_Atomic current;
static struct table *deferred[2];
static atomic_int announced;
static atomic_int online;
static atomic_int changes;

static struct table *new_table(int size) {
    struct table *table = malloc(sizeof *table);
    table->size = size;
    return table;
}

static void announce(void) { atomic_fetch_add(&announced, 1); }

static void note_change(void) {
    atomic_fetch_add(&changes, 1);
#ifndef FIXED
    announce();
#endif
}

static int look_up(void) {
    struct table *table = atomic_load(&current);
    if (atomic_load(&changes) == 0 && table != atomic_load(&current)) note_change();
    return table->size;
}

static void *read_table(void *unused) {
    (void)unused;
    int sum = 0;
    atomic_store(&online, 1);
    for (int i = 0; i < 2; i++) {
        sum += look_up();
        announce();
    }
    atomic_store(&online, 0);
    assert(sum >= 20);
    return NULL;
}

static void *replace(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        struct table *old = atomic_exchange(&current, new_table(11 + i));
        int before = atomic_load(&announced);
        deferred[i] = old;
        for (int look = 0; look < 3; look++) {
            if (atomic_load(&online) && atomic_load(&announced) == before) continue;
            free(old);
            deferred[i] = NULL;
            break;
        }
    }
    return NULL;
}

int main(void) {
    atomic_store(&current, new_table(10));
    pthread_t reader, writer;
    pthread_create(&reader, NULL, read_table, NULL);
    pthread_create(&writer, NULL, replace, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    for (int i = 0; i < 2; i++) free(deferred[i]);
    free(atomic_load(&current));
    printf("tables replaced\n");
    return 0;
}
