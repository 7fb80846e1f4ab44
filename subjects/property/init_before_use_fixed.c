// As init_before_use.c; others come when it is done.
//
// Property: init-before-use
// Breaks: nothing
#include <assert.h>
#include <pthread.h>

struct cache {
    int size;
};

static struct cache cache;

__attribute__((noinline)) void cache_init(struct cache *cache)
{
    cache->size = 16;
}

__attribute__((noinline)) int cache_get(struct cache *cache)
{
    assert(cache->size > 0);
    return cache->size;
}

static void *start(void *unused)
{
    cache_init(&cache);
    return unused;
}

static void *work(void *unused)
{
    cache_get(&cache);
    return unused;
}

int main(void)
{
    pthread_t starter, worker;
    pthread_create(&starter, NULL, start, NULL);
    pthread_join(starter, NULL);
    pthread_create(&worker, NULL, work, NULL);
    pthread_join(worker, NULL);
    return 0;
}
