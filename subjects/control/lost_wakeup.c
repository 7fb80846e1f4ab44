// T0.1 waits for a letter, T0 delivers it.
// Bug: the flag is looked at without the mutex; if the letter comes between the look and the wait,
// its signal wakes nobody.
// Consequence: hang, the waiter sleeps for ever and main in its join.
// The twin, lost_wakeup_fixed.c, never fails.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t delivered = PTHREAD_COND_INITIALIZER;
static int letters;

static void *receive(void *unused) {
    while (letters == 0) {                     /* A1 */
        pthread_mutex_lock(&lock);             /* A2 */
        pthread_cond_wait(&delivered, &lock);  /* A3 */
        pthread_mutex_unlock(&lock);
    }
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
