// Threads that fork at the same time: each of the children belongs to one fork.
// Events of process 0: 200 forks; of each child: one write of its number to `cell`.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define EACH 50

static int cell;

static void *forks(void *number) {
    for (int i = 0; i < EACH; i++) {
        pid_t child = fork();
        if (child == 0) {
            cell = (int)(intptr_t)number * EACH + i + 1;
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    return NULL;
}

int main(void) {
    pthread_t thread[THREADS];
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, forks, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    printf("%d\n", cell);
    return 0;
}
