// As null_dereference.c, with a lock around looking and using.
//
// Property: null-dereference
// Breaks: nothing
#include <pthread.h>
#include <stdio.h>

struct map {
    int size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct map all = {3};
static struct map *columns = &all;

static __attribute__((noinline)) void note(const char *what)
{
    fprintf(stderr, "%s\n", what);
}

static void *describe(void *unused)
{
    pthread_mutex_lock(&lock);
    if (columns != NULL) {
        note("table has columns");
        if (columns->size > 0)
            note("and they have names");
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *drop(void *unused)
{
    pthread_mutex_lock(&lock);
    columns = NULL;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t describer, dropper;
    pthread_create(&describer, NULL, describe, NULL);
    pthread_create(&dropper, NULL, drop, NULL);
    pthread_join(describer, NULL);
    pthread_join(dropper, NULL);
    return 0;
}
