// A replica sets its position back, tells the primary, and gives it some time. It notes which shards the primary has
// not copied yet, and then expects the position that the primary has set.
// Bug: it does not wait for the primary, and may find its own position. In the recorded run all shards are copied. If
// the primary is late, the replica takes another path: it notes each shard that is missing.
// Finds: order on position; assertion
// The twin is replica_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { SHARDS = 3, START = 4, END = 99 };

static sem_t connected, sent;
static atomic_int position = END;
static atomic_int copied[SHARDS];
static atomic_int notes;

static void *serve(void *unused) {
    sem_wait(&connected);
    atomic_store(&position, END);
    for (int shard = 0; shard < SHARDS; shard++) atomic_store(&copied[shard], 1);
    sem_post(&sent);
    return unused;
}

static void *replicate(void *unused) {
    atomic_store(&position, START);
    sem_post(&connected);
#ifdef FIXED
    sem_wait(&sent);
#else
    usleep(1000);
#endif
    for (int shard = 0; shard < SHARDS; shard++) {
        if (!atomic_load(&copied[shard])) atomic_fetch_add(&notes, 1);
    }
    assert(atomic_load(&position) == END);
    return unused;
}

int main(void) {
    pthread_t primary, replica;
    sem_init(&connected, 0, 0);
    sem_init(&sent, 0, 0);
    pthread_create(&primary, NULL, serve, NULL);
    pthread_create(&replica, NULL, replicate, NULL);
    pthread_join(primary, NULL);
    pthread_join(replica, NULL);
    printf("done\n");
    return 0;
}
