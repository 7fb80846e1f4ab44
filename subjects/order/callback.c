// A source of events calls back whoever has registered, and the program waits for the call.
// Bug: the source is started before the callback is registered: the event can be lost.
// Finds: order on listener; deadlock
// The twin is callback_fixed.c.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

typedef void callback(int event);

static callback *listener;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t called;

static void listen(int event) {
    printf("event %d\n", event);
    sem_post(&called);
}

static void enlist(callback *who) {
    pthread_mutex_lock(&lock);
    listener = who;
    pthread_mutex_unlock(&lock);
}

static void *source(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    callback *who = listener;
    pthread_mutex_unlock(&lock);
    if (who != NULL) who(1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    sem_init(&called, 0, 0);
    if (pthread_create(&thread, NULL, source, NULL) != 0) return 2;
    enlist(listen);
    sem_wait(&called);
    pthread_join(thread, NULL);
    return 0;
}
