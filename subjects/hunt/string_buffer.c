// One thread appends a string buffer to another one, while a second thread empties it.
// Bug: append asks for the length of the other buffer, and then for so many of its characters. Each
// of the two takes the lock, but the buffer can be emptied in between.
// Finds: atomicity on source; assertion
// The twin is string_buffer_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 32 };

struct buffer {
    pthread_mutex_t lock;
    size_t length;
    char text[ROOM];
};

static struct buffer target = { PTHREAD_MUTEX_INITIALIZER, 3, "abc" };
static struct buffer source = { PTHREAD_MUTEX_INITIALIZER, 3, "def" };

static size_t length(struct buffer *from) {
    pthread_mutex_lock(&from->lock);
    size_t length = from->length;
    pthread_mutex_unlock(&from->lock);
    return length;
}

static void characters(struct buffer *from, size_t count, char *to) {
    pthread_mutex_lock(&from->lock);
    assert(count <= from->length);
    memcpy(to, from->text, count);
    pthread_mutex_unlock(&from->lock);
}

static void append(struct buffer *to, struct buffer *from) {
    char text[ROOM];
    size_t count = length(from);
    characters(from, count, text);
    pthread_mutex_lock(&to->lock);
    memcpy(to->text + to->length, text, count);
    to->length += count;
    pthread_mutex_unlock(&to->lock);
}

static void *appender(void *unused) {
    (void)unused;
    append(&target, &source);
    return NULL;
}

static void *eraser(void *unused) {
    (void)unused;
    pthread_mutex_lock(&source.lock);
    source.length = 0;
    memset(source.text, 0, ROOM);
    pthread_mutex_unlock(&source.lock);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, appender, NULL) != 0) return 2;
    if (pthread_create(&threads[1], NULL, eraser, NULL) != 0) return 2;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%.*s\n", (int)target.length, target.text);
    return 0;
}
