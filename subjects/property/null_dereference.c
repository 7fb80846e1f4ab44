// A table's column map is looked at and used by one thread, and dropped by another.
//
// Property: null-dereference
// Breaks: NullDereference; signal
#include <pthread.h>
#include <stdio.h>

struct map {
    int size;
};

static struct map all = {3};
static struct map *columns = &all;

static __attribute__((noinline)) void note(const char *what)
{
    fprintf(stderr, "%s\n", what);
}

static void *describe(void *unused)
{
    if (columns != NULL) {
        note("table has columns");
        if (columns->size > 0)
            note("and they have names");
    }
    return unused;
}

static void *drop(void *unused)
{
    columns = NULL;
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
