// Three are awaited at the barrier, and two come; a semaphore is waited for once too often.
#include <pthread.h>
#include <semaphore.h>

static pthread_barrier_t meeting;
static sem_t tickets;

static void *meet(void *arg) {
    sem_post(&tickets);             // post
    pthread_barrier_wait(&meeting); // meet
    return arg;
}

int main(void) {
    pthread_t thread[2];
    pthread_barrier_init(&meeting, NULL, 3);
    sem_init(&tickets, 0, 0);
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, meet, NULL);
    for (int i = 0; i < 3; i++) sem_wait(&tickets); // take
    return 0;
}
