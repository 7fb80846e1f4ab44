// pthread_once: done by the first, found done by the second; one inside another; one that is
// cancelled halfway and done again.
// Events of T0: begin of `outer`, begin of `inner`, end of `inner`, end of `outer`; then `outer`
// found done. T0.1 finds `outer` done. T0.2 begins `halfway` and is cancelled in it: ended, not
// done. T0 then begins and ends `halfway`.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static pthread_once_t outer = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT, halfway = PTHREAD_ONCE_INIT;
static sem_t inside;
static int runs, attempts;

static void run_inner(void) {
    runs++;
}

static void run_outer(void) {
    pthread_once(&inner, run_inner);
    runs++;
}

static void run_halfway(void) {
    if (attempts++ == 0) {
        sem_post(&inside);
        for (;;) pause();
    }
}

static void *find(void *unused) {
    pthread_once(&outer, run_outer);
    return unused;
}

static void *try(void *unused) {
    pthread_once(&halfway, run_halfway);
    return unused;
}

int main(void) {
    pthread_t thread;
    sem_init(&inside, 0, 0);
    pthread_once(&outer, run_outer);
    pthread_once(&outer, run_outer);
    pthread_create(&thread, NULL, find, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, try, NULL);
    sem_wait(&inside);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    pthread_once(&halfway, run_halfway);
    printf("%d %d\n", runs, attempts);
    return 0;
}
