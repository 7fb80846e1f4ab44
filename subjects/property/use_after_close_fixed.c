// As use_after_close.c; a lock keeps others out until the connection is open again.
//
// Property: use-after-close
// Breaks: nothing
#include <assert.h>
#include <pthread.h>

struct connection {
    volatile int open;
    int sent;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct connection connection;

__attribute__((noinline)) void connection_open(struct connection *c)
{
    c->open = 1;
}

__attribute__((noinline)) void connection_send(struct connection *c)
{
    assert(c->open);
    c->sent++;
}

__attribute__((noinline)) void connection_close(struct connection *c)
{
    c->open = 0;
}

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    connection_send(&connection);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *renew(void *unused)
{
    pthread_mutex_lock(&lock);
    connection_close(&connection);
    connection_open(&connection);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t worker, renewer;
    connection_open(&connection);
    pthread_create(&worker, NULL, work, NULL);
    pthread_create(&renewer, NULL, renew, NULL);
    pthread_join(worker, NULL);
    pthread_join(renewer, NULL);
    return 0;
}
