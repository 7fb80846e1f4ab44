// A client waits for a reply for a limited time; the worker that replies writes into the request.
// Bug (order violation, timeout): if the wait times out, the client frees the request although the
// worker still has it.
// Consequence: use after free
// The twin is slow_reply_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct request {
    int owners;
    int reply;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t replied = PTHREAD_COND_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER;
static struct request *pending;
static int replies;

static void drop(struct request *request) {
#ifdef FIXED
    if (--request->owners == 0) free(request);
#else
    free(request);
#endif
}

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    while (pending == NULL) pthread_cond_wait(&asked, &lock);
    struct request *request = pending;
    pthread_mutex_unlock(&lock);
    int reply = 6 * 7;
    pthread_mutex_lock(&lock);
    request->reply = reply;
    replies++;
    pthread_cond_signal(&replied);
#ifdef FIXED
    drop(request);
#endif
    pthread_mutex_unlock(&lock);
    return unused;
}

static int ask(void) {
    struct timespec until;
    struct request *request = calloc(1, sizeof *request);
    int status = 0, reply = -1;
    assert(request != NULL);
    request->owners = 2;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    pthread_mutex_lock(&lock);
    pending = request;
    pthread_cond_signal(&asked);
    while (replies == 0 && status != ETIMEDOUT) status = pthread_cond_timedwait(&replied, &lock, &until);
    if (replies > 0) reply = request->reply;
    drop(request);
    pthread_mutex_unlock(&lock);
    return reply;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    int reply = ask();
    pthread_join(worker, NULL);
    assert(reply == 42 || reply == -1);
    return 0;
}
