// A child process, forked by the second of two threads, which forks a child itself.
// Events of process 0: T0.1 writes 1 to `shared` and forks; T0 joins it and writes 4. Process 1,
// whose only thread is T0, writes 2 and forks; process 2 writes 3 and ends with _exit(7).
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int shared;

static int wait_for(pid_t child) {
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static void *parent(void *unused) {
    shared = 1;
    pid_t child = fork();
    if (child == 0) {
        shared = 2;
        pid_t grandchild = fork();
        if (grandchild == 0) {
            shared = 3;
            _exit(7);
        }
        _exit(wait_for(grandchild) + 1);
    }
    printf("%d\n", wait_for(child));
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, parent, NULL);
    pthread_join(thread, NULL);
    shared = 4;
    printf("%d\n", shared);
    return 0;
}
