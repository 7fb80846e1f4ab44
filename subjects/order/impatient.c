// A client asks, and waits for the answer, for two seconds at most.
// Bug: it does not look why the wait has ended, and takes the answer also when there is none yet.
// Finds: order on answered; signal
// The twin is impatient_fixed.c.
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static const int *answer;

static void *client(void *unused) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    pthread_mutex_lock(&lock);
    if (answer == NULL) pthread_cond_timedwait(&answered, &lock, &until);
    printf("the answer is %d\n", *answer);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *server(void *unused) {
    static int value;
    value = 42;
    pthread_mutex_lock(&lock);
    answer = &value;
    pthread_cond_signal(&answered);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, client, NULL) != 0) return 2;
    if (pthread_create(&threads[1], NULL, server, NULL) != 0) return 2;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
