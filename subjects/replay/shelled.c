// Another process sends signals while threads lock, wait and end: none may be lost by all, and none may stop the
// program.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t signals;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turns;

static void on_signal(int signal) {
    (void)signal;
    signals++;
}

static void *work(void *argument) {
    int mine = argument != NULL;
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&mutex);
        while (turns % 2 != mine) pthread_cond_wait(&changed, &mutex);
        turns++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

int main(void) {
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    sigaction(SIGUSR1, &action, NULL);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        for (int i = 0; i < 200; i++) {
            kill(parent, SIGUSR1);
            usleep(50);
        }
        _exit(0);
    }
    for (int round = 0; round < 5; round++) {
        pthread_t threads[2];
        turns = 0;
        pthread_create(&threads[0], NULL, work, NULL);
        pthread_create(&threads[1], NULL, work, &turns);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    }
    int status;
    while (waitpid(child, &status, 0) != child) {}
    printf("%d\n", signals > 0);
    return signals == 0;
}
