// T0 and T0.1 look into a table and fill it if it is empty: they hold it to read, then to write.
// One alone could not upgrade while it reads, so an upgrade passes a gate, gives the table back and
// takes it to write.
// Bug: the gate is taken while the table is still held to read. Who is through it waits for the
// other reader to leave, and the other reader waits at the gate.
// Consequence: deadlock, if both read at the same time.
// The twin, rw_upgrade_fixed.c, never fails.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static int entry, fills;

static void clear(void) {
    pthread_mutex_lock(&gate);
    pthread_rwlock_wrlock(&table);
    entry = 0;
    pthread_rwlock_unlock(&table);
    pthread_mutex_unlock(&gate);
}

static void *look_up(void *unused) {
    pthread_rwlock_rdlock(&table); /* A1 */
    if (entry == 0) {
        pthread_mutex_lock(&gate);     /* A2 */
        pthread_rwlock_unlock(&table);
        pthread_rwlock_wrlock(&table); /* A3 */
        if (entry == 0) {
            entry = 7;
            fills++;
        }
        pthread_mutex_unlock(&gate);
    }
    int seen = entry;
    pthread_rwlock_unlock(&table);
    assert(seen == 7);
    return unused;
}

int main(void) {
    pthread_t other;
    clear();
    if (pthread_create(&other, NULL, look_up, NULL) != 0) return 2;
    look_up(NULL);
    pthread_join(other, NULL);
    printf("entry: %d, fills: %d\n", entry, fills);
    assert(fills == 1);
    return 0;
}
