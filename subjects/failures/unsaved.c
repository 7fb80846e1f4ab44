// An editor marks a document while it changes it, another thread closes the document, and a watcher checks that
// nothing is closed with changes.
// Bug: the document is closed without a look at the mark. It takes two reads that see something else, of
// variables that two other threads write: with one of them alone the check holds.
// Finds: order on closing, dirty; assertion
// The twin is unsaved_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int closing;
static int dirty;

static void *watch(void *unused) {
    pthread_mutex_lock(&lock);
    int is_closing = closing;
    int is_dirty = dirty;
    pthread_mutex_unlock(&lock);
    assert(!(is_closing && is_dirty));
    return unused;
}

static void *edit(void *unused) {
    pthread_mutex_lock(&lock);
#ifdef FIXED
    if (closing) {
        pthread_mutex_unlock(&lock);
        return unused;
    }
#endif
    dirty = 1;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    dirty = 0;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *close_document(void *unused) {
    pthread_mutex_lock(&lock);
#ifdef FIXED
    if (!dirty) closing = 1;
#else
    closing = 1;
#endif
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    void *(*work[])(void *) = {watch, edit, close_document};
    pthread_t threads[3];
    for (int at = 0; at < 3; at++) pthread_create(&threads[at], NULL, work[at], NULL);
    for (int at = 0; at < 3; at++) pthread_join(threads[at], NULL);
    printf("done\n");
    return 0;
}
