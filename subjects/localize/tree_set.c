// A thread takes the first element of a tree while another one clears the tree.
// Bug: that the tree is not empty is checked in a critical section of its own.
// True: R1-W2-R1 at check, clear, first
// The twin is tree_set_fixed.c.
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

struct node {
    int value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node only = { 7 };
static struct node *root = &only;

static int is_empty(void) {
    pthread_mutex_lock(&lock);
    int result = root == NULL; // @check
    pthread_mutex_unlock(&lock);
    return result;
}

static int first(void) {
    pthread_mutex_lock(&lock);
    struct node *node = root; // @first
    int result = *(volatile int *)&node->value;
    pthread_mutex_unlock(&lock);
    return result;
}

static void *user(void *unused) {
    BEGIN;
    if (!is_empty()) {
        first();
    }
    END;
    return unused;
}

static void *cleaner(void *unused) {
    BEGIN;
    pthread_mutex_lock(&lock);
    root = NULL; // @clear
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
