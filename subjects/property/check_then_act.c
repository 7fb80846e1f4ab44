// A default is set where nothing is set yet; meanwhile somebody sets what they want. Each call is
// protected by a lock, both together are not.
//
// Property: check-then-act
// Breaks: CheckThenAct; assertion
#include <assert.h>
#include <pthread.h>

struct map {
    pthread_mutex_t lock;
    int values[8];
};

static struct map settings = {PTHREAD_MUTEX_INITIALIZER, {0}};

__attribute__((noinline)) int map_get(struct map *map, long key)
{
    pthread_mutex_lock(&map->lock);
    int value = map->values[key];
    pthread_mutex_unlock(&map->lock);
    return value;
}

__attribute__((noinline)) void map_put(struct map *map, long key, int value)
{
    pthread_mutex_lock(&map->lock);
    map->values[key] = value;
    pthread_mutex_unlock(&map->lock);
}

static void *set_default(void *unused)
{
    if (map_get(&settings, 5) == 0)
        map_put(&settings, 5, 1);
    return unused;
}

static void *choose(void *unused)
{
    map_put(&settings, 5, 2);
    return unused;
}

int main(void)
{
    pthread_t starter, person;
    pthread_create(&starter, NULL, set_default, NULL);
    pthread_create(&person, NULL, choose, NULL);
    pthread_join(starter, NULL);
    pthread_join(person, NULL);
    assert(map_get(&settings, 5) == 2);
    return 0;
}
