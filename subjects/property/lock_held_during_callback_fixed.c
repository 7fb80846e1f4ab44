// As lock_held_during_callback.c; who calls back takes the lock, too.
//
// Property: lock-held-during-callback
// Breaks: nothing
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int handlers, names;

__attribute__((noinline)) void on_event(void)
{
    assert(handlers == names);
}

static void *add(void *unused)
{
    pthread_mutex_lock(&lock);
    handlers = handlers + 1;
    names = names + 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *fire(void *unused)
{
    pthread_mutex_lock(&lock);
    on_event();
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t adder, firer;
    pthread_create(&adder, NULL, add, NULL);
    pthread_create(&firer, NULL, fire, NULL);
    pthread_join(adder, NULL);
    pthread_join(firer, NULL);
    return 0;
}
