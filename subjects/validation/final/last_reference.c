// A document is shared by an editor and a printer; the last of them that releases it frees it.
// Bug (double free): `release` reads the number of references again after it has decremented it, so
// that both threads can see zero.
// Consequence: double free
// The twin is last_reference_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct document {
    atomic_int references;
    atomic_int pages;
    int title;
};

static atomic_int freed;

static struct document *create(int title) {
    struct document *document = malloc(sizeof *document);
    assert(document != NULL);
    atomic_init(&document->references, 1);
    atomic_init(&document->pages, 0);
    document->title = title;
    return document;
}

static struct document *share(struct document *document) {
    atomic_fetch_add(&document->references, 1);
    return document;
}

static void release(struct document *document) {
#ifdef FIXED
    if (atomic_fetch_sub(&document->references, 1) == 1) {
#else
    atomic_fetch_sub(&document->references, 1);
    if (atomic_load(&document->references) == 0) {
#endif
        atomic_fetch_add(&freed, 1);
        free(document);
    }
}

static void *edit(void *argument) {
    struct document *document = argument;
    for (int i = 0; i < 3; i++) atomic_fetch_add(&document->pages, 1);
    release(document);
    return NULL;
}

static void *print(void *argument) {
    struct document *document = argument;
    int pages = atomic_load(&document->pages);
    release(document);
    return pages >= 0 ? NULL : argument;
}

int main(void) {
    pthread_t editor, printer;
    struct document *document = create(7);
    pthread_create(&editor, NULL, edit, share(document));
    pthread_create(&printer, NULL, print, share(document));
    release(document);
    pthread_join(editor, NULL);
    pthread_join(printer, NULL);
    printf("freed: %d\n", atomic_load(&freed));
    return 0;
}
