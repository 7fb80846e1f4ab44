// Signals at all times: to a thread that has not begun, to itself, to others, in handlers, by timers and while
// threads wait. The output is the order in which the handlers ran.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static char text[256];
static atomic_int length;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int shared;
static sem_t done;
static pthread_t first;
static sigjmp_buf back;

static void note(char what) {
    text[atomic_fetch_add(&length, 1) % 255] = what;
}

static void on_user1(int signal) {
    (void)signal;
    note(pthread_self() == first ? 'm' : 'w');
    raise(SIGUSR2);
}

static void on_user2(int signal) {
    (void)signal;
    note('n');
}

static void on_alarm(int signal) {
    (void)signal;
    note('a');
}

static void on_jump(int signal) {
    (void)signal;
    note('j');
    siglongjmp(back, 1);
}

static void *work(void *argument) {
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&mutex);
        shared++;
        pthread_mutex_unlock(&mutex);
    }
    pthread_kill(first, SIGUSR2);
    while (sem_wait(&done) != 0) note('i');
    return argument;
}

static void handle(int signal, void (*handler)(int), int flags) {
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
    sigaction(signal, &action, NULL);
}

int main(void) {
    pthread_t workers[2];
    struct itimerval often = { .it_interval.tv_usec = 500, .it_value.tv_usec = 500 };
    struct itimerval never = { 0 };
    first = pthread_self();
    sem_init(&done, 0, 0);
    handle(SIGUSR1, on_user1, 0);
    handle(SIGUSR2, on_user2, 0);
    handle(SIGALRM, on_alarm, SA_RESTART);
    handle(SIGHUP, on_jump, 0);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_create(&workers[i], NULL, work, NULL);
        pthread_kill(workers[i], SIGUSR1);
    }
    raise(SIGUSR1);
    if (sigsetjmp(back, 1) == 0) raise(SIGHUP);
    struct timespec nap = { .tv_nsec = 2000000 };
    while (nanosleep(&nap, &nap) != 0) note('s');
    for (int i = 0; i < 2; i++) sem_post(&done);
    for (int i = 0; i < 2; i++) pthread_join(workers[i], NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    pthread_mutex_lock(&mutex);
    printf("%s %d\n", text, shared);
    pthread_mutex_unlock(&mutex);
    return shared != 10;
}
