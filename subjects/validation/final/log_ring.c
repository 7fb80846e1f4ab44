// Threads append lines to a log in memory. A line has a place in the index and text in a buffer.
// Bug (atomic-set violation): a thread reserves the place under one lock and the text under another,
// so that places and texts of two threads can be mixed.
// Consequence: assertion
// The twin is log_ring_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { LINES = 8, BYTES = 256 };

struct line {
    int begin, length;
};

static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t text_lock = PTHREAD_MUTEX_INITIALIZER;
static struct line lines[LINES];
static int count;
static char text[BYTES];
static int end;

static int reserve_line(int length) {
    pthread_mutex_lock(&index_lock);
    int at = count++;
    lines[at].length = length;
    lines[at].begin = at == 0 ? 0 : lines[at - 1].begin + lines[at - 1].length;
    pthread_mutex_unlock(&index_lock);
    return at;
}

static void append_text(const char *words, int length) {
    pthread_mutex_lock(&text_lock);
    memcpy(text + end, words, (size_t)length);
    end += length;
    pthread_mutex_unlock(&text_lock);
}

static void log_line(const char *words) {
    int length = (int)strlen(words);
#ifdef FIXED
    static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&whole);
#endif
    reserve_line(length);
    append_text(words, length);
#ifdef FIXED
    pthread_mutex_unlock(&whole);
#endif
}

static void *accept_calls(void *unused) {
    log_line("<accept>");
    log_line("<accepted>");
    return unused;
}

static void *read_files(void *unused) {
    log_line("<open>");
    log_line("<read>");
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, accept_calls, NULL);
    pthread_create(&two, NULL, read_files, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    for (int i = 0; i < count; i++) {
        const char *begin = text + lines[i].begin;
        printf("%.*s\n", lines[i].length, begin);
        assert(begin[0] == '<' && begin[lines[i].length - 1] == '>');
    }
    return 0;
}
