// A connection is closed and opened again, while another thread may send through it.
//
// Property: use-after-close
// Breaks: UseAfterClose; assertion
#include <assert.h>
#include <pthread.h>

struct connection {
    volatile int open;
    int sent;
};

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
    connection_send(&connection);
    return unused;
}

static void *renew(void *unused)
{
    connection_close(&connection);
    connection_open(&connection);
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
