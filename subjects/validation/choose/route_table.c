// Routes are looked up under a read lock, and added under a write lock if they are missing.
// Bug (atomicity violation): between the two locks another thread can add the same route, which is
// then in the table twice.
// Consequence: assertion
// The twin is route_table_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { MOST = 16 };

struct route {
    int network, gateway, uses;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct route routes[MOST];
static int count;

static int find(int network) {
    for (int i = 0; i < count; i++)
        if (routes[i].network == network) return i;
    return -1;
}

static int add(int network) {
    int at = count;
    routes[at] = (struct route) { network, network + 1, 0 };
    count++;
    return at;
}

static int gateway_of(int network) {
    pthread_rwlock_rdlock(&lock);
    int at = find(network);
    int gateway = at < 0 ? 0 : routes[at].gateway;
    pthread_rwlock_unlock(&lock);
    if (at >= 0) return gateway;
    pthread_rwlock_wrlock(&lock);
#ifdef FIXED
    at = find(network);
#endif
    if (at < 0) at = add(network);
    gateway = routes[at].gateway;
    pthread_rwlock_unlock(&lock);
    return gateway;
}

static void *forward(void *argument) {
    int sum = gateway_of(10) + gateway_of(20);
    *(int *)argument = sum;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int sums[2] = { 0, 0 };
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, forward, &sums[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++) assert(routes[i].network != routes[j].network);
    printf("%d routes\n", count);
    assert(sums[0] == 32 && sums[1] == 32);
    return 0;
}
