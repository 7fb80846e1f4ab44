// As check_then_act.c; another lock makes one of looking and setting.
//
// Property: check-then-act
// Breaks: nothing
#include <assert.h>
#include <pthread.h>

struct map {
    pthread_mutex_t lock;
    int values[8];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
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
    pthread_mutex_lock(&lock);
    if (map_get(&settings, 5) == 0)
        map_put(&settings, 5, 1);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *choose(void *unused)
{
    pthread_mutex_lock(&lock);
    map_put(&settings, 5, 2);
    pthread_mutex_unlock(&lock);
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
