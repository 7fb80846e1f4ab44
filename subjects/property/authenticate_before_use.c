// A connection is authenticated by one thread and used by another, which does not wait for it.
//
// Property: authenticate-before-use
// Breaks: AuthenticateBeforeUse; assertion
#include <assert.h>
#include <pthread.h>

struct connection {
    int authenticated;
};

static struct connection connection;

__attribute__((noinline)) void connection_authenticate(struct connection *c)
{
    c->authenticated = 1;
}

__attribute__((noinline)) void connection_use(struct connection *c)
{
    assert(c->authenticated);
}

static void *log_in(void *unused)
{
    connection_authenticate(&connection);
    return unused;
}

static void *work(void *unused)
{
    connection_use(&connection);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, log_in, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
