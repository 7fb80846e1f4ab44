// A text can be replaced by a shorter one while another thread reads its last character.
// Bug: the reader takes the length and the text in two critical sections, and so may use the length of the
// old text for the new one.
// Finds: atomic-set on length, text; memory
// The twin is stale_length_fixed.c.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *text, *spare;
static size_t length;

static char *make(const char *content) {
    char *it = malloc(strlen(content));
    if (it == NULL) exit(2);
    memcpy(it, content, strlen(content));
    return it;
}

static void *shorten(void *unused) {
    pthread_mutex_lock(&lock);
    char *old = text;
    text = spare;
    spare = old;
    length = 2;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *show(void *unused) {
    pthread_mutex_lock(&lock);
    size_t end = length;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    const char *it = text;
    putchar(it[end - 1]);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    text = make("a sentence of some words");
    spare = make("no");
    length = 24;
    pthread_create(&threads[0], NULL, show, NULL);
    pthread_create(&threads[1], NULL, shorten, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    free(text);
    free(spare);
    return 0;
}
