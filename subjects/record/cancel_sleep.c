// A thread is cancelled in its sleep; its cleanup handler writes.
// Events of T0.1: post of `ready`, sleep of 1000 s, a write of 1 to `cleaned`, end.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static sem_t ready;
static int cleaned;

static void clean(void *unused) {
    (void)unused;
    cleaned = 1;
}

static void *doze(void *unused) {
    pthread_cleanup_push(clean, NULL);
    sem_post(&ready);
    sleep(1000);
    pthread_cleanup_pop(1);
    return unused;
}

int main(void) {
    pthread_t thread;
    void *result;
    sem_init(&ready, 0, 0);
    pthread_create(&thread, NULL, doze, NULL);
    sem_wait(&ready);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    printf("%d %d\n", result == PTHREAD_CANCELED, cleaned);
    return 0;
}
