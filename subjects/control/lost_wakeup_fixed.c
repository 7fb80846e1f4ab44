// The twin of lost_wakeup.c: the flag is looked at with the mutex, which only the wait gives back.
// No letter can come between the look and the wait: it never fails.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t delivered = PTHREAD_COND_INITIALIZER;
static int letters;

static void *receive(void *unused) {
    pthread_mutex_lock(&lock);                 /* A1 */
    while (letters == 0) {                     /* A2 */
        pthread_cond_wait(&delivered, &lock);  /* A3 */
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

static void deliver(void) {
    pthread_mutex_lock(&lock);
    letters++;                       /* B1 */
    pthread_cond_signal(&delivered); /* B2 */
    pthread_mutex_unlock(&lock);
}

int main(void) {
    pthread_t receiver;
    if (pthread_create(&receiver, NULL, receive, NULL) != 0) return 2;
    deliver();
    pthread_join(receiver, NULL);
    printf("letters: %d\n", letters);
    return 0;
}
