// A cache with three entries that evicts the least recently used one.
// Bug (use after free): `touch` finds an entry under the lock, and moves it to the front in a second
// critical section. An insertion in between can evict and free it.
// Consequence: use after free
// The twin is lru_cache_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 3 };

struct entry {
    int key, value;
    struct entry *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *newest;
static int count;

static void unlink_entry(struct entry *entry) {
    struct entry **link = &newest;
    while (*link != NULL && *link != entry) link = &(*link)->next;
    if (*link != NULL) *link = entry->next;
}

static void evict(void) {
    struct entry *oldest = newest;
    while (oldest->next != NULL) oldest = oldest->next;
    unlink_entry(oldest);
    free(oldest);
    count--;
}

static void insert(int key, int value) {
    struct entry *entry = malloc(sizeof *entry);
    assert(entry != NULL);
    pthread_mutex_lock(&lock);
    if (count == MOST) evict();
    *entry = (struct entry) { key, value, newest };
    newest = entry;
    count++;
    pthread_mutex_unlock(&lock);
}

static struct entry *find(int key) {
    struct entry *entry = newest;
    while (entry != NULL && entry->key != key) entry = entry->next;
    return entry;
}

static int touch(int key) {
    pthread_mutex_lock(&lock);
    struct entry *entry = find(key);
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    int value = -1;
    if (entry != NULL) {
        unlink_entry(entry);
        entry->next = newest;
        newest = entry;
        value = entry->value;
    }
    pthread_mutex_unlock(&lock);
    return value;
}

static void *look_up(void *argument) {
    *(int *)argument = touch(2) + touch(3);
    return NULL;
}

static void *fill(void *unused) {
    insert(4, 40);
    insert(5, 50);
    return unused;
}

int main(void) {
    pthread_t reader, writer;
    int sum = 0;
    for (int key = 1; key <= MOST; key++) insert(key, key * 10);
    pthread_create(&reader, NULL, look_up, &sum);
    pthread_create(&writer, NULL, fill, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    printf("%d\n", count);
    assert(count == MOST);
    return 0;
}
