// A request is answered by another thread, and freed when the answer is there.
// Bug: the server signals after it has unlocked; by then the request may be freed.
// Finds: lifetime on main; use after free
// The twin is freed_signal_fixed.c.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

struct request {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    int answer;
};

static void *answer(void *argument) {
    struct request *request = argument;
    pthread_mutex_lock(&request->lock);
    request->answer = 42;
    pthread_mutex_unlock(&request->lock);
    pthread_cond_signal(&request->answered);
    return NULL;
}

static int poll_answer(struct request *request) {
    pthread_mutex_lock(&request->lock);
    int got = request->answer;
    pthread_mutex_unlock(&request->lock);
    return got;
}

int main(void) {
    struct request *request = calloc(1, sizeof *request);
    pthread_t server;
    int got;
    pthread_mutex_init(&request->lock, NULL);
    pthread_cond_init(&request->answered, NULL);
    if (pthread_create(&server, NULL, answer, request) != 0) return 2;
    while ((got = poll_answer(request)) == 0) sched_yield();
    free(request);
    pthread_join(server, NULL);
    printf("%d\n", got);
    return 0;
}
