// Statements are logged while another thread rotates the log: it closes the old one and opens a new one.
// Bug: the lock is released in between, and a statement that finds the log closed is not logged. After an
// error in MySQL, whose binary log misses statements.
// Finds: atomicity on log_is_open; assertion
// The twin is rotate_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { STATEMENTS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_is_open = 1;
static int log_number = 1;
static int logged;

static void *rotate(void *unused) {
    pthread_mutex_lock(&lock);
    log_is_open = 0;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    log_number++;
    log_is_open = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *insert(void *unused) {
    for (int at = 0; at < STATEMENTS; at++) {
        pthread_mutex_lock(&lock);
        if (log_is_open) {
            printf("statement %d\n", at);
            logged++;
        }
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t rotator, client;
    pthread_create(&rotator, NULL, rotate, NULL);
    pthread_create(&client, NULL, insert, NULL);
    pthread_join(rotator, NULL);
    pthread_join(client, NULL);
    assert(logged == STATEMENTS);
    printf("log %d\n", log_number);
    return 0;
}
