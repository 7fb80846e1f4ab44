// Printers take documents from a queue and wait if there is none.
// Bug (stolen wake-up): a printer that was woken does not check again whether there is a document, and
// another printer may have been faster.
// Consequence: assertion
// The twin is print_queue_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { PRINTERS = 2, MOST = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int documents[MOST];
static int count;
static int closed;

static void submit(int pages) {
    pthread_mutex_lock(&lock);
    documents[count++] = pages;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}

static void close_queue(void) {
    pthread_mutex_lock(&lock);
    closed = 1;
    pthread_cond_broadcast(&filled);
    pthread_mutex_unlock(&lock);
}

static int take(void) {
    int pages = 0;
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (count == 0 && !closed) pthread_cond_wait(&filled, &lock);
#else
    if (count == 0 && !closed) pthread_cond_wait(&filled, &lock);
#endif
    if (count > 0 || !closed) {
        assert(count > 0);
        pages = documents[--count];
    }
    pthread_mutex_unlock(&lock);
    return pages;
}

static void *print(void *argument) {
    int *printed = argument, pages;
    while ((pages = take()) > 0) *printed += pages;
    return NULL;
}

int main(void) {
    pthread_t printers[PRINTERS];
    int printed[PRINTERS] = { 0, 0 };
    for (int i = 0; i < PRINTERS; i++) pthread_create(&printers[i], NULL, print, &printed[i]);
    for (int pages = 1; pages <= 3; pages++) submit(pages);
    close_queue();
    for (int i = 0; i < PRINTERS; i++) pthread_join(printers[i], NULL);
    printf("%d pages\n", printed[0] + printed[1]);
    assert(printed[0] + printed[1] == 6);
    return 0;
}
