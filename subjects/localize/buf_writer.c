// Writers append to one buffer.
// Bug: a place is reserved without a lock, so that two characters get the same one.
// True: R1-W2-W1 at place, advance, advance
// The twin is buf_writer_fixed.c.
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

static char buffer[16];
static int count;

__attribute__((noinline)) static void put(char letter) {
    int at = count; // @place
    buffer[at] = letter;
    count = at + 1; // @advance
}

static void *writer(void *unused) {
    BEGIN;
    (void)unused;
    for (int i = 0; i < 2; i++) {
        put('x');
    }
    END;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, writer, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < 4; i++) {
        if (buffer[i] != 'x') {
            fprintf(stderr, "character %d is missing\n", i);
            return 1;
        }
    }
    return 0;
}
