// A thread puts an object into a cache while another one looks it up.
// Bug: the object is published before it is initialized.
// True: R1-W2 at use, initialize
// The twin is cache_fixed.c.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef FIXED
static pthread_mutex_t region = PTHREAD_MUTEX_INITIALIZER;
#define BEGIN pthread_mutex_lock(&region)
#define END pthread_mutex_unlock(&region)
#else
#define BEGIN (void)0
#define END (void)0
#endif

struct object {
    int value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object object;
static struct object *cache;

static void *put(void *unused) {
    BEGIN;
    pthread_mutex_lock(&lock);
    cache = &object;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    object.value = 42; // @initialize
    pthread_mutex_unlock(&lock);
    END;
    return unused;
}

static void *look_up(void *unused) {
    BEGIN;
    pthread_mutex_lock(&lock);
    struct object *found = cache;
    int value = found == NULL ? 42 : found->value; // @use
    pthread_mutex_unlock(&lock);
    if (value != 42) {
        fprintf(stderr, "the object has the value %d\n", value);
        exit(1);
    }
    END;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, put, NULL);
    pthread_create(&threads[1], NULL, look_up, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    
    return 0;
}
