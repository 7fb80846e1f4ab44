// A server compares the size of a request with its limit.
// Bug: the limit is set when the server already runs. The server reads something else directly before it reads
// the limit, and the two accesses of the limit are atomic: only the order of these two does harm.
// Finds: order on limit; assertion
// The twin is late_limit_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int size = 3;
static atomic_int limit;

static void *serve(void *unused) {
    int requested = size;
    int most = limit;
    assert(requested <= most);
    return unused;
}

int main(void) {
    pthread_t server;
#ifdef FIXED
    limit = 8;
    pthread_create(&server, NULL, serve, NULL);
#else
    pthread_create(&server, NULL, serve, NULL);
    limit = 8;
#endif
    pthread_join(server, NULL);
    printf("done\n");
    return 0;
}
