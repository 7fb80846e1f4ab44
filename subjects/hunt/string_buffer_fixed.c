// The twin of string_buffer.c: one thread appends a string buffer to another one, while a second
// thread empties it. Append keeps the lock of the other buffer from its length to its characters.
// Finds: nothing harmful
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


static void append(struct buffer *to, struct buffer *from) {
    char text[ROOM];
    pthread_mutex_lock(&from->lock);
    size_t count = from->length;
    assert(count <= from->length);
    memcpy(text, from->text, count);
    pthread_mutex_unlock(&from->lock);
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
