// The twin of manager.c: a manager of memory hands out blocks and takes them back, and counts how
// many are left. One lock protects the counter.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { BLOCKS = 8, ROUNDS = 2 };

static int available = BLOCKS;
static int granted;
static pthread_mutex_t requests = PTHREAD_MUTEX_INITIALIZER;

static void request(void) {
    pthread_mutex_lock(&requests);
    available--;
    granted++;
    pthread_mutex_unlock(&requests);
}

static void release(void) {
    pthread_mutex_lock(&requests);
    available++;
    pthread_mutex_unlock(&requests);
}

static void *client(void *unused) {
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        request();
        release();
    }
    return NULL;
}

int main(void) {
    pthread_t clients[2];
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&clients[i], NULL, client, NULL) != 0) return 2;
    }
    for (int i = 0; i < 2; i++) pthread_join(clients[i], NULL);
    printf("granted: %d, available: %d\n", granted, available);
    assert(available == BLOCKS);
    return 0;
}
