// Idle connections are kept in a pool. A keeper closes those that are too old.
// Bug (double close): `take` and `expire` both read the slot, and clear it in a second critical section,
// so that a connection can be closed by the keeper and by the client that took it.
// Consequence: misuse
// The twin is idle_connections_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { SLOTS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pool[SLOTS];
static int taken, expired;

static int pick(int slot) {
    pthread_mutex_lock(&lock);
    int file = pool[slot];
#ifdef FIXED
    pool[slot] = -1;
#endif
    pthread_mutex_unlock(&lock);
    return file;
}

static void clear_slot(int slot) {
    pthread_mutex_lock(&lock);
    pool[slot] = -1;
    pthread_mutex_unlock(&lock);
}

static void *use_connection(void *unused) {
    int file = pick(1);
    if (file < 0) return unused;
    clear_slot(1);
    assert(write(file, "GET", 3) == 3);
    close(file);
    taken++;
    return unused;
}

static void *expire(void *unused) {
    for (int i = 0; i < SLOTS; i++) {
        int file = pick(i);
        if (file < 0) continue;
        clear_slot(i);
        close(file);
        expired++;
    }
    return unused;
}

int main(void) {
    pthread_t client, keeper;
    int reading[SLOTS];
    for (int i = 0; i < SLOTS; i++) {
        int ends[2];
        assert(pipe(ends) == 0);
        reading[i] = ends[0];
        pool[i] = ends[1];
    }
    pthread_create(&client, NULL, use_connection, NULL);
    pthread_create(&keeper, NULL, expire, NULL);
    pthread_join(client, NULL);
    pthread_join(keeper, NULL);
    for (int i = 0; i < SLOTS; i++) close(reading[i]);
    printf("%d of %d\n", taken + expired, SLOTS);
    return 0;
}
