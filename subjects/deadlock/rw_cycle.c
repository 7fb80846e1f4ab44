// A router announces its routes to its peers, and learns routes from them. Both look up one table and
// change the other.
// Bug: who announces holds the routes to read and wants the peers to write, who learns the other way
// round.
// Finds: deadlock on routes, peers; deadlock
// The twin is rw_cycle_fixed.c.
#include <pthread.h>
#include <stdio.h>

static pthread_rwlock_t routes = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t peers = PTHREAD_RWLOCK_INITIALIZER;
static int route = 1, peer = 1;

static void *announce(void *unused) {
    pthread_rwlock_rdlock(&routes);
    pthread_rwlock_wrlock(&peers);
    peer = route;
    pthread_rwlock_unlock(&peers);
    pthread_rwlock_unlock(&routes);
    return unused;
}

static void *learn(void *unused) {
    pthread_rwlock_rdlock(&peers);
    pthread_rwlock_wrlock(&routes);
    route = peer;
    pthread_rwlock_unlock(&routes);
    pthread_rwlock_unlock(&peers);
    return unused;
}

int main(void) {
    pthread_t announces, learns;
    if (pthread_create(&announces, NULL, announce, NULL) != 0) return 2;
    if (pthread_create(&learns, NULL, learn, NULL) != 0) return 2;
    pthread_join(announces, NULL);
    pthread_join(learns, NULL);
    printf("%d %d\n", route, peer);
    return 0;
}
