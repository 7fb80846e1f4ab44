// An array of counters grows when a larger index is used: its values are copied into a larger one, which
// replaces it. Old arrays are kept until the end, since others may still use them.
// Bug (atomicity violation): `set` looks whether the array was replaced before it stores a value, and not
// afterwards.
// Deep: the array grows before or after in a run without switches; the store must come after its value was
// copied, although `set` has just looked.
// Consequence: assertion
// The twin is grown_array_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct array { int size; atomic_int values[8]; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct array *_Atomic current;
static struct array *old[4];
static int replaced;

static struct array *new_array(int size) {
    struct array *array = calloc(1, sizeof *array);
    array->size = size;
    return array;
}

static struct array *grow(int index) {
    pthread_mutex_lock(&lock);
    struct array *array = atomic_load(&current);
    if (index >= array->size) {
        struct array *larger = new_array(2 * array->size);
        for (int i = 0; i < array->size; i++)
            atomic_store(&larger->values[i], atomic_load(&array->values[i]));
        old[replaced++] = array;
        atomic_store(&current, larger);
        array = larger;
    }
    pthread_mutex_unlock(&lock);
    return array;
}

static void set(int index, int value) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
    struct array *now = atomic_load(&current);
    if (index < now->size) {
        atomic_store(&now->values[index], value);
        pthread_mutex_unlock(&lock);
        return;
    }
    pthread_mutex_unlock(&lock);
    grow(index);
    set(index, value);
#else
    struct array *array = atomic_load(&current);
    while (index >= array->size) array = grow(index);
    struct array *latest = atomic_load(&current);
    if (latest != array) array = latest;
    atomic_store(&array->values[index], value);
#endif
}

static void *low(void *unused) {
    (void)unused;
    set(0, 10);
    set(1, 11);
    return NULL;
}

static void *high(void *unused) {
    (void)unused;
    set(3, 13);
    return NULL;
}

int main(void) {
    atomic_store(&current, new_array(2));
    pthread_t a, b;
    pthread_create(&a, NULL, low, NULL);
    pthread_create(&b, NULL, high, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    struct array *array = atomic_load(&current);
    printf("size %d\n", array->size);
    assert(atomic_load(&array->values[0]) == 10 && atomic_load(&array->values[1]) == 11);
    assert(atomic_load(&array->values[3]) == 13);
    for (int i = 0; i < replaced; i++) free(old[i]);
    free(array);
    return 0;
}
