// Requests are passed on through a queue for one request. A thread that finds it full handles the request in it
// and tries again. If it is full again, the request is kept in an overflow list.
// Bug (use after free): `submit` reports a request that it has put into the overflow list as refused, and the
// caller frees it.
// Deep: the path is taken only if the queue is full twice, which needs three threads; the list is read
// by whoever comes next.
// Consequence: use after free
// The twin is retry_request_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct request { int number; struct request *next; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct request *queue, *overflow;
static int handled, refused;

static int submit(struct request *request, int keep) {
    int accepted = 0;
    pthread_mutex_lock(&lock);
    if (!queue) {
        queue = request;
        accepted = 1;
    } else if (keep) {
        request->next = overflow;
        overflow = request;
#ifdef FIXED
        accepted = 1;
#endif
    }
    pthread_mutex_unlock(&lock);
    return accepted;
}

static void handle_one(void) {
    pthread_mutex_lock(&lock);
    struct request *request = queue;
    queue = NULL;
    if (!request && overflow) {
        request = overflow;
        overflow = request->next;
    }
    if (request) handled += request->number > 0;
    pthread_mutex_unlock(&lock);
    free(request);
}

static void *client(void *number) {
    struct request *request = calloc(1, sizeof *request);
    request->number = *(int *)number;
    int accepted = submit(request, 0);
    if (!accepted) {
        handle_one();
        accepted = submit(request, 1);
    }
    if (!accepted) {
        free(request);
        pthread_mutex_lock(&lock);
        refused++;
        pthread_mutex_unlock(&lock);
    }
    handle_one();
    return NULL;
}

int main(void) {
    static int numbers[3] = {1, 2, 3};
    pthread_t clients[3];
    for (int i = 0; i < 3; i++) pthread_create(&clients[i], NULL, client, &numbers[i]);
    for (int i = 0; i < 3; i++) pthread_join(clients[i], NULL);
    while (queue || overflow) handle_one();
    assert(handled + refused == 3);
    printf("handled\n");
    return 0;
}
