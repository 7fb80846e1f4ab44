// A thread copies a vector while another one removes elements.
// Bug: the array for the copy is allocated before the lock is taken for copying.
// True: R1-W2-R1 at size, remove, copy
// The twin is vector_fixed.c.
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

static void *copy(void *unused) {
    BEGIN;
    pthread_mutex_lock(&lock);
    int size = count; // @size
    pthread_mutex_unlock(&lock);
    int *array = malloc((size_t)size * sizeof *array);
    pthread_mutex_lock(&lock);
    int copied = 0;
    for (int i = 0; i < count; i++) { // @copy
        array[copied++] = elements[i];
    }
    pthread_mutex_unlock(&lock);
    free(array);
    if (copied != size) {
        fprintf(stderr, "%d elements are missing\n", size - copied);
        exit(1);
    }
    END;
    return unused;
}

static void *remove_all(void *unused) {
    BEGIN;
    pthread_mutex_lock(&lock);
    count = 0; // @remove
    pthread_mutex_unlock(&lock);
    END;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, copy, NULL);
    pthread_create(&threads[1], NULL, remove_all, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    
    return 0;
}
