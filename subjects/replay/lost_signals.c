// Two producers announce an item each to two consumers: to one by a signal that it waits for, to the other by
// one that it reads from a file. Of a signal that is pending already, a second one is dropped.
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

static sigset_t waited, read_from_file;
static int file;

static void *produce(void *argument) {
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR2);
    return argument;
}

static void *wait_twice(void *argument) {
    int signal = 0;
    for (int i = 0; i < 2; i++) sigwait(&waited, &signal);
    return argument;
}

static void *read_twice(void *argument) {
    struct signalfd_siginfo info;
    for (int i = 0; i < 2; i++) {
        if (read(file, &info, sizeof info) != sizeof info) return NULL;
    }
    return argument;
}

int main(void) {
    pthread_t threads[4];
    void *(*const begin[])(void *) = { wait_twice, read_twice, produce, produce };
    sigset_t both;
    sigemptyset(&waited);
    sigaddset(&waited, SIGUSR1);
    sigemptyset(&read_from_file);
    sigaddset(&read_from_file, SIGUSR2);
    sigemptyset(&both);
    sigaddset(&both, SIGUSR1);
    sigaddset(&both, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    file = signalfd(-1, &read_from_file, 0);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, begin[i], NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return 0;
}
