// A connection goes through the states open, draining and closed. Requests count themselves; the connection
// is closed when it drains and no request is left.
// Bug (use after free): a request checks `draining` before it counts itself, and only `closed` afterwards.
// Deep: the closer must begin to drain and look at the count before the request is counted, and must be
// interrupted before it marks the connection as closed.
// Consequence: use after free
// The twin is drain_flags_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct buffer { atomic_int bytes; };

static atomic_int draining, closed, requests;
static struct buffer *buffer;
static atomic_int served, refused;

static void serve(int bytes) {
    if (atomic_load(&draining)) {
        atomic_fetch_add(&refused, 1);
        return;
    }
    atomic_fetch_add(&requests, 1);
#ifdef FIXED
    if (atomic_load(&draining)) {
#else
    if (atomic_load(&closed)) {
#endif
        atomic_fetch_sub(&requests, 1);
        atomic_fetch_add(&refused, 1);
        return;
    }
    atomic_fetch_add(&buffer->bytes, bytes);
    atomic_fetch_add(&served, 1);
    atomic_fetch_sub(&requests, 1);
}

static void *client(void *unused) {
    (void)unused;
    for (int i = 1; i <= 3; i++) serve(i);
    return NULL;
}

static void *closer(void *unused) {
    (void)unused;
    atomic_store(&draining, 1);
    for (int look = 0; look < 3; look++) {
        if (atomic_load(&requests) > 0) continue;
        atomic_store(&closed, 1);
        free(buffer);
        return NULL;
    }
    return NULL;
}

int main(void) {
    buffer = calloc(1, sizeof *buffer);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, client, NULL);
    pthread_create(&threads[1], NULL, closer, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(served + refused == 3);
    if (!atomic_load(&closed)) free(buffer);
    printf("closed\n");
    return 0;
}
