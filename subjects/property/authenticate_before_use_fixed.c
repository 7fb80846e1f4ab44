// As authenticate_before_use.c; who uses the connection waits.
//
// Property: authenticate-before-use
// Breaks: nothing
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

struct connection {
    int authenticated;
};

static struct connection connection;
static sem_t ready;

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
    sem_post(&ready);
    return unused;
}

static void *work(void *unused)
{
    sem_wait(&ready);
    connection_use(&connection);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    sem_init(&ready, 0, 0);
    pthread_create(&first, NULL, log_in, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
