// Two threads take two mutexes in opposite order and block for ever; SIGALRM ends the process.
// Events: each has taken one; at the end both are blocked in the acquisition of the other's, and T0 in
// the join of T0.1.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *forward(void *unused) {
    pthread_mutex_lock(&a);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&b);
    return unused;
}

static void *backward(void *unused) {
    pthread_mutex_lock(&b);
    pthread_barrier_wait(&both);
    alarm(1);
    pthread_mutex_lock(&a);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&one, NULL, forward, NULL);
    pthread_create(&two, NULL, backward, NULL);
    pthread_join(one, NULL);
    return 0;
}
