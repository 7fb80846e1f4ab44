// A registry is changed under its lock; a callback that looks at it does not take the lock.
//
// Property: lock-held-during-callback
// Breaks: LockHeldDuringCallback
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
    on_event();
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
