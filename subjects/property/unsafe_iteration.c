// A list of listeners is gone through by one thread while another one may add to it.
//
// Property: unsafe-iteration
// Breaks: UnsafeIteration; assertion
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct list {
    int items[8];
    int count;
    int changes;
};

struct iterator {
    struct list *list;
    int at;
    int changes;
};

static struct list listeners = {{1, 2, 3}, 3, 0};
static struct iterator iterators[2];

__attribute__((noinline)) void list_add(struct list *list, int item)
{
    list->items[list->count] = item;
    list->count++;
    list->changes++;
}

__attribute__((noinline)) struct iterator *list_iterator(struct list *list, int number)
{
    struct iterator *it = &iterators[number];
    it->list = list;
    it->at = 0;
    it->changes = list->changes;
    return it;
}

__attribute__((noinline)) int *list_next(struct iterator *it)
{
    assert(it->changes == it->list->changes);
    return it->at < it->list->count ? &it->list->items[it->at++] : NULL;
}

static void *notify(void *unused)
{
    struct iterator *it = list_iterator(&listeners, 0);
    while (list_next(it) != NULL)
        ;
    return unused;
}

static void *listen(void *unused)
{
    list_add(&listeners, 4);
    struct iterator *it = list_iterator(&listeners, 1);
    while (list_next(it) != NULL)
        ;
    return unused;
}

int main(void)
{
    pthread_t notifier, listener;
    pthread_create(&notifier, NULL, notify, NULL);
    pthread_create(&listener, NULL, listen, NULL);
    pthread_join(notifier, NULL);
    pthread_join(listener, NULL);
    return 0;
}
