// One thread waits for a letter that another one announces. Who looks before the letter is there
// and waits after it was announced, waits for ever.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t delivered = PTHREAD_COND_INITIALIZER;
static int letters;

static void *receive(void *arg) {
    if (letters == 0) { // look
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&delivered, &lock); // wait
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *deliver(void *arg) {
    pthread_mutex_lock(&lock);
    letters = 1;
    pthread_cond_signal(&delivered); // signal
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t receiver, postman;
    pthread_create(&receiver, NULL, receive, NULL);
    pthread_create(&postman, NULL, deliver, NULL);
    pthread_join(receiver, NULL);
    pthread_join(postman, NULL);
    return 0;
}
