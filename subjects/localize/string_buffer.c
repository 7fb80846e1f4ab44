// A thread appends a buffer to another one while a second thread shortens it.
// Bug: the length and the characters are read in two critical sections.
// True: R1-W2-R1 at length, shorten, copy
// The twin is string_buffer_fixed.c.
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
static char text[8] = "abcdef";
static int length = 6;
static char target[8];

static int get_length(void) {
    pthread_mutex_lock(&lock);
    int result = length; // @length
    pthread_mutex_unlock(&lock);
    return result;
}

static void get_chars(int end) {
    pthread_mutex_lock(&lock);
    if (end > length) { // @copy
        fprintf(stderr, "index %d is out of range\n", end);
        abort();
    }
    for (int i = 0; i < end; i++) {
        target[i] = text[i];
    }
    pthread_mutex_unlock(&lock);
}

static void *append(void *unused) {
    BEGIN;
    get_chars(get_length());
    END;
    return unused;
}

static void *set_length(void *unused) {
    BEGIN;
    pthread_mutex_lock(&lock);
    length = 0; // @shorten
    pthread_mutex_unlock(&lock);
    END;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, append, NULL);
    pthread_create(&threads[1], NULL, set_length, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    
    return 0;
}
