// Messages are sent at once if the channel is free, and otherwise put into a backlog that is sent later.
// Bug (use after free): a message is added to the backlog after its lock was released, and the backlog may
// have been sent and freed by then.
// Deep: the path is taken only if the channel is busy, which it is not in a run without switches; then the
// backlog must be sent between the release and the use.
// Consequence: use after free
// The twin is message_backlog_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t channel = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
struct backlog { int count; int items[8]; };
static struct backlog *backlog;
static int sent;

static void flush(void) {
    pthread_mutex_lock(&guard);
    struct backlog *old = backlog;
    backlog = NULL;
    pthread_mutex_unlock(&guard);
    if (old) { sent += old->count; free(old); }
}

static void put(int item) {
    if (pthread_mutex_trylock(&channel) == 0) {
        sent++;
        flush();
        pthread_mutex_unlock(&channel);
        return;
    }
    pthread_mutex_lock(&guard);
    if (!backlog) backlog = calloc(1, sizeof *backlog);
    struct backlog *mine = backlog;
#ifdef FIXED
    mine->items[mine->count++] = item;
    pthread_mutex_unlock(&guard);
#else
    pthread_mutex_unlock(&guard);
    mine->items[mine->count++] = item;
#endif
}

static void *sender(void *unused) {
    (void)unused;
    put(1);
    put(2);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, sender, NULL);
    pthread_create(&b, NULL, sender, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    flush();
    printf("done\n");
    return 0;
}
