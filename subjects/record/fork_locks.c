// Forks while other threads do atomic operations and allocate: the child must not inherit a lock of
// ours that nobody gives back. 50 children, each does atomic operations and allocates itself.
// Events: 51 processes, each child with its own 100 additions to `total`.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int total, stop;

static void *busy(void *unused) {
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        __atomic_fetch_add(&total, 1, __ATOMIC_RELAXED);
        free(malloc(100));
    }
    return unused;
}

int main(void) {
    pthread_t thread[2];
    int sum = 0;
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, busy, NULL);
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        if (child == 0) {
            for (int k = 0; k < 100; k++) {
                __atomic_fetch_add(&total, 1, __ATOMIC_RELAXED);
                free(malloc(100));
            }
            _exit(1);
        }
        int status;
        waitpid(child, &status, 0);
        sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    printf("%d\n", sum);
    return 0;
}
