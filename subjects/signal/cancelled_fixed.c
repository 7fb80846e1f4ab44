// The twin of cancelled.c: a thread that is cancelled adds to a total when it cleans up.
// The first thread adds before it cancels the other one.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static int total;

static void clean_up(void *argument) {
    (void)argument;
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    pthread_cleanup_push(clean_up, NULL);
    for (;;) sleep(1);
    pthread_cleanup_pop(0);
    return argument;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    int seen = total;
    total = seen + 1;
    pthread_cancel(worker);
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
