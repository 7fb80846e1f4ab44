// Two visitors enter their names in a book, one after the other, in a critical section.
// Bug: the second relies on the first having been there, and nothing makes it wait.
// Finds: order on book; assertion
// The twin is critical_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

struct book {
    int visits;
    int names[2];
};

static struct book book;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t visited = PTHREAD_COND_INITIALIZER;

static void enter(int name) {
    book.names[book.visits] = name;
    book.visits++;
}

static void *first(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    enter(1);
    pthread_cond_signal(&visited);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *second(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    assert(book.names[0] == 1);
    enter(2);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, first, NULL) != 0) return 2;
    if (pthread_create(&threads[1], NULL, second, NULL) != 0) return 2;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("visits: %d\n", book.visits);
    return 0;
}
