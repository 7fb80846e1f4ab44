// A receiver waits for a letter; the first thread closes the post office once the receiver has called.
// Bug: the receiver may still wait for the courier when the condition is destroyed.
// Finds: lock-misuse on delivered; misuse
// The twin is destroy_awaited_fixed.c.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t delivered = PTHREAD_COND_INITIALIZER;
static int letters, called;

static void *receive(void *unused) {
    pthread_mutex_lock(&lock);
    called = 1;
    while (letters == 0) pthread_cond_wait(&delivered, &lock);
    letters--;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *deliver(void *unused) {
    pthread_mutex_lock(&lock);
    letters++;
    pthread_cond_signal(&delivered);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t receiver, courier;
    if (pthread_create(&receiver, NULL, receive, NULL) != 0) return 2;
    if (pthread_create(&courier, NULL, deliver, NULL) != 0) return 2;
    pthread_mutex_lock(&lock);
    int answered = called;
    pthread_mutex_unlock(&lock);
    if (answered) pthread_cond_destroy(&delivered);
    pthread_join(receiver, NULL);
    pthread_join(courier, NULL);
    puts("closed");
    return 0;
}
