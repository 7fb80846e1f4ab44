// A client sends a request on its stack to a server and waits until it is done.
// Bug (lock misuse): the server signals after it has released the mutex; the client may have seen
// `done` already and destroys the mutex that the server still uses, or waits to take.
// Consequence: misuse
// The twin is request_done_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct request {
    pthread_mutex_t mutex;
    pthread_cond_t answered;
    atomic_int done;
    int question, answer;
};

static pthread_mutex_t inbox_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t inbox_filled = PTHREAD_COND_INITIALIZER;
static struct request *inbox;

static void *serve(void *unused) {
    pthread_mutex_lock(&inbox_lock);
    while (inbox == NULL) pthread_cond_wait(&inbox_filled, &inbox_lock);
    struct request *request = inbox;
    inbox = NULL;
    pthread_mutex_unlock(&inbox_lock);
    pthread_mutex_lock(&request->mutex);
    request->answer = request->question * 2;
    atomic_store(&request->done, 1);
    pthread_cond_signal(&request->answered);
    pthread_mutex_unlock(&request->mutex);
    return unused;
}

static int ask(int question) {
    static struct request request;
    request.question = question;
    pthread_mutex_init(&request.mutex, NULL);
    pthread_cond_init(&request.answered, NULL);
    pthread_mutex_lock(&inbox_lock);
    inbox = &request;
    pthread_cond_signal(&inbox_filled);
    pthread_mutex_unlock(&inbox_lock);
#ifndef FIXED
    if (!atomic_load(&request.done))
#endif
    {
        pthread_mutex_lock(&request.mutex);
        while (!atomic_load(&request.done)) pthread_cond_wait(&request.answered, &request.mutex);
        pthread_mutex_unlock(&request.mutex);
    }
    pthread_mutex_destroy(&request.mutex);
    pthread_cond_destroy(&request.answered);
    return request.answer;
}

int main(void) {
    pthread_t server;
    pthread_create(&server, NULL, serve, NULL);
    int answer = ask(21);
    pthread_join(server, NULL);
    printf("%d\n", answer);
    assert(answer == 42);
    return 0;
}
