// A handler interrupts blocking calls: read and sem_wait fail with EINTR
// (4), sleep says what is left. errno is untouched by what Norn does.
// Events of T0: a sem-wait that failed with 4.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static sem_t sem, back;
static int ends[2];
static pthread_t first;
static volatile int hits;

static void handle(int signal) {
    (void)signal;
    hits++;
}

// Sends until the call has come back: the first may come before it blocks.
static void *shoot(void *unused) {
    while (sem_trywait(&back) != 0) {
        pthread_kill(first, SIGUSR1);
        usleep(2000);
    }
    return unused;
}

static pthread_t start(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, shoot, NULL);
    return thread;
}

static void stop(pthread_t thread) {
    sem_post(&back);
    pthread_join(thread, NULL);
}

int main(void) {
    char byte;
    struct sigaction action = { .sa_handler = handle };
    first = pthread_self();
    sem_init(&sem, 0, 0);
    sem_init(&back, 0, 0);
    if (pipe(ends) != 0) return 1;
    sigaction(SIGUSR1, &action, NULL);

    pthread_t thread = start();
    int waited = sem_wait(&sem) == -1 && errno == EINTR;
    stop(thread);
    thread = start();
    int read_failed = read(ends[0], &byte, 1) == -1 && errno == EINTR;
    stop(thread);
    thread = start();
    int slept = sleep(100) > 0;
    stop(thread);

    errno = 77;
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    printf("%d %d %d %d\n", waited, read_failed, slept, errno);
    return 0;
}
