// The twin of system_v.c: the semaphore is released after the visit was counted. Nothing but the kernel excludes the
// threads, and a schedule cannot hold a thread between its write and the release.
// Finds: nothing harmful
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/sem.h>

// Not static: libc declares `semop` as a leaf function, so gcc would keep a static variable in a register meanwhile.
int semaphore, visits;

static void change(int by) {
    struct sembuf operation = { .sem_op = (short)by };
    semop(semaphore, &operation, 1);
}

static void *visit(void *argument) {
    for (int i = 0; i < 2; i++) {
        change(-1);
        visits++;
        change(1);
    }
    return argument;
}

int main(void) {
    pthread_t one, two;
    semaphore = semget(IPC_PRIVATE, 1, 0600);
    semctl(semaphore, 0, SETVAL, 1);
    pthread_create(&one, NULL, visit, NULL);
    pthread_create(&two, NULL, visit, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    semctl(semaphore, 0, IPC_RMID);
    return visits != 4;
}
