// Two processors write to one page; a directory logs each change of its owner.
// Bug: the log has one entry too few: it overflows if the two take the page in exact alternation.
// Deep: both loops must alternate in every step.
// Consequence: assertion
// The twin is ownership_log_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum {
    STEPS = 4,
#ifdef FIXED
    ENTRIES = 2 * STEPS,
#else
    ENTRIES = 2 * STEPS - 1,
#endif
    NOBODY = -1,
};

struct directory {
    pthread_mutex_t lock;
    int owner;
    int log[2 * STEPS];
    int changes;
};

static struct directory directory = { .lock = PTHREAD_MUTEX_INITIALIZER, .owner = NOBODY };
static long page;

static void own(int processor) {
    if (directory.owner == processor) return;
    assert(directory.changes < ENTRIES);
    directory.log[directory.changes++] = processor;
    directory.owner = processor;
}

static void write_page(int processor, long value) {
    pthread_mutex_lock(&directory.lock);
    own(processor);
    page += value;
    pthread_mutex_unlock(&directory.lock);
}

static void *run(void *argument) {
    int processor = *(int *)argument;
    for (int i = 0; i < STEPS; i++) write_page(processor, i + 1);
    return NULL;
}

static void check_log(void) {
    for (int i = 1; i < directory.changes; i++) assert(directory.log[i] != directory.log[i - 1]);
}

int main(void) {
    pthread_t threads[2];
    int processors[2] = { 0, 1 };
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, &processors[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    check_log();
    printf("page: %ld\n", page);
    assert(page == STEPS * (STEPS + 1));
    return 0;
}
