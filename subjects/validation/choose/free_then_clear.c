// The last error message is kept until it is reset; other threads print it if there is one.
// Bug (use after free): `reset` frees the message in one critical section and clears the pointer in the
// next one.
// Deep: a run in which the reset comes first never reads the message: a thread must stop between the
// free and the store.
// Consequence: use after free
// The twin is free_then_clear_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct message {
    int code;
    char text[24];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct message *last;
static int resets;

static void fail(int code, const char *text) {
    struct message *message = calloc(1, sizeof *message);
    assert(message != NULL);
    message->code = code;
    strncpy(message->text, text, sizeof message->text - 1);
    pthread_mutex_lock(&lock);
    last = message;
    pthread_mutex_unlock(&lock);
}

static void count_reset(void) {
    pthread_mutex_lock(&lock);
    resets++;
    pthread_mutex_unlock(&lock);
}

static void reset(void) {
    pthread_mutex_lock(&lock);
    free(last);
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    count_reset();
    pthread_mutex_lock(&lock);
#endif
    last = NULL;
    pthread_mutex_unlock(&lock);
}

static int last_code(void) {
    pthread_mutex_lock(&lock);
    int code = last == NULL ? 0 : last->code;
    pthread_mutex_unlock(&lock);
    return code;
}

static void *recover(void *unused) {
    count_reset();
    reset();
    return unused;
}

static void *report(void *argument) {
    *(int *)argument = last_code();
    return NULL;
}

int main(void) {
    pthread_t recovery, reporter;
    int code = -1;
    fail(5, "no space left");
    pthread_create(&recovery, NULL, recover, NULL);
    pthread_create(&reporter, NULL, report, &code);
    pthread_join(recovery, NULL);
    pthread_join(reporter, NULL);
    assert(code == 0 || code == 5);
    return 0;
}
