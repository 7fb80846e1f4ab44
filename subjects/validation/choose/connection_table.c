// A server keeps its connections in a table. Workers accept and close connections under the lock of
// the table; a reaper closes connections that were idle for too long.
// Bug (data race): the reaper decrements the number of open connections after it has released the lock.
// Consequence: assertion
// The twin is connection_table_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { SLOTS = 8, CALLS = 3 };

struct connection {
    int in_use;
    int idle;
    char peer[16];
};

struct table {
    pthread_mutex_t lock;
    struct connection slots[SLOTS];
    int open;
};

static struct table table = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int open_connection(const char *peer, int idle) {
    int found = -1;
    pthread_mutex_lock(&table.lock);
    for (int i = 0; i < SLOTS && found < 0; i++) {
        if (table.slots[i].in_use) continue;
        table.slots[i].in_use = 1;
        table.slots[i].idle = idle;
        strncpy(table.slots[i].peer, peer, sizeof table.slots[i].peer - 1);
        table.open++;
        found = i;
    }
    pthread_mutex_unlock(&table.lock);
    return found;
}

static void close_connection(int slot) {
    pthread_mutex_lock(&table.lock);
    table.slots[slot].in_use = 0;
    table.open--;
    pthread_mutex_unlock(&table.lock);
}

static void *serve(void *argument) {
    for (int i = 0; i < CALLS; i++) {
        int slot = open_connection("10.0.0.1", 0);
        if (slot >= 0) close_connection(slot);
    }
    return argument;
}

static void *reap(void *argument) {
    int closed = 0;
    pthread_mutex_lock(&table.lock);
    for (int i = 0; i < SLOTS; i++) {
        if (!table.slots[i].in_use || !table.slots[i].idle) continue;
        table.slots[i].in_use = 0;
        closed++;
    }
#ifdef FIXED
    table.open -= closed;
    pthread_mutex_unlock(&table.lock);
#else
    pthread_mutex_unlock(&table.lock);
    table.open -= closed;
#endif
    return argument;
}

int main(void) {
    pthread_t server, reaper;
    int used = 0;
    open_connection("10.0.0.7", 1);
    open_connection("10.0.0.8", 1);
    pthread_create(&reaper, NULL, reap, NULL);
    pthread_create(&server, NULL, serve, NULL);
    pthread_join(reaper, NULL);
    pthread_join(server, NULL);
    for (int i = 0; i < SLOTS; i++) used += table.slots[i].in_use;
    printf("open: %d of %d\n", table.open, SLOTS);
    assert(table.open == used);
    return 0;
}
