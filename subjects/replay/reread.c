// A question about the price of a bundle asks for its parts, under the read lock of the bundle. The lock prefers
// writers: one that comes between the two read locks waits for the first one, and the second one for it.
#define _GNU_SOURCE
#include <pthread.h>

#ifndef KIND
#define KIND PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP
#endif

static pthread_rwlock_t prices;
static int part = 2;

static int part_price(void) {
    pthread_rwlock_rdlock(&prices);
    int price = part;
    pthread_rwlock_unlock(&prices);
    return price;
}

static int bundle_price(void) {
    pthread_rwlock_rdlock(&prices);
    int price = part + part_price();
    pthread_rwlock_unlock(&prices);
    return price;
}

static void *ask(void *answer) {
    *(int *)answer = bundle_price();
    return NULL;
}

static void *change(void *unused) {
    pthread_rwlock_wrlock(&prices);
    part = 3;
    pthread_rwlock_unlock(&prices);
    return unused;
}

int main(void) {
    pthread_rwlockattr_t attributes;
    if (pthread_rwlockattr_init(&attributes) != 0) return 2;
    if (pthread_rwlockattr_setkind_np(&attributes, KIND) != 0) return 2;
    if (pthread_rwlock_init(&prices, &attributes) != 0) return 2;
    int answer = 0;
    pthread_t asks, changes;
    if (pthread_create(&asks, NULL, ask, &answer) != 0) return 2;
    if (pthread_create(&changes, NULL, change, NULL) != 0) return 2;
    pthread_join(asks, NULL);
    pthread_join(changes, NULL);
    pthread_rwlock_destroy(&prices);
    return answer > 0 ? 0 : 1;
}
