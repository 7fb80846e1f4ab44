// A thread reads the last element of a list while another one clears the list.
// Bug: the size and the element are read in two critical sections.
// True: R1-W2-R1 at size, clear, get
// The twin is array_list_fixed.c.
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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int elements[4] = { 1, 2, 3, 4 };
static int count = 4;

static int size(void) {
    pthread_mutex_lock(&lock);
    int result = count; // @size
    pthread_mutex_unlock(&lock);
    return result;
}

static int get(int at) {
    pthread_mutex_lock(&lock);
    if (at >= count) { // @get
        fprintf(stderr, "index %d is out of range\n", at);
        abort();
    }
    int result = elements[at];
    pthread_mutex_unlock(&lock);
    return result;
}

static void *user(void *unused) {
    BEGIN;
    int last = size() - 1;
    if (last >= 0) {
        get(last);
    }
    END;
    return unused;
}

static void *cleaner(void *unused) {
    BEGIN;
    pthread_mutex_lock(&lock);
    count = 0; // @clear
    pthread_mutex_unlock(&lock);
    END;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, user, NULL);
    pthread_create(&threads[1], NULL, cleaner, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    
    return 0;
}
