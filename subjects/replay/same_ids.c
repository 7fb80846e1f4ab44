// Prints the ids of threads and random numbers whose seed is the id of the process, and passes the ids to
// the functions that take one.
#define _GNU_SOURCE
#undef NDEBUG
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static __thread volatile sig_atomic_t handled;

static void handle(int signal) {
    (void)signal;
    handled++;
}

static void send(int id) {
    handled = 0;
    assert(tgkill(getpid(), id, SIGUSR1) == 0 && handled == 1);
    assert(syscall(SYS_tgkill, getpid(), id, SIGUSR1) == 0 && handled == 2);
    assert(syscall(SYS_tkill, id, SIGUSR1) == 0 && handled == 3);
}

static void *look(void *argument) {
    int id = gettid();
    assert(syscall(SYS_gettid) == id);
    cpu_set_t set;
    assert(sched_getaffinity(id, sizeof set, &set) == 0);
    assert(sched_setaffinity(id, sizeof set, &set) == 0);
    assert(syscall(SYS_sched_getaffinity, id, sizeof set, &set) > 0);
    assert(sched_getscheduler(id) == SCHED_OTHER);
    assert(setpriority(PRIO_PROCESS, id, getpriority(PRIO_PROCESS, id)) == 0);
    char path[64], name[32];
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", id);
    FILE *file = fopen(path, "r");
    assert(file != NULL && fgets(name, sizeof name, file) != NULL);
    fclose(file);
    assert(access(path, R_OK) == 0);
    send(id);
    printf("%d %p\n", id, (void *)pthread_self());
    return argument;
}

static void *look_below(void *argument) {
    pthread_t thread;
    assert(pthread_create(&thread, NULL, look, NULL) == 0);
    pthread_join(thread, NULL);
    return look(argument);
}

static void draw(void) {
    srand(getpid());
    int first = rand();
    srand(time(NULL) ^ getpid());
    int second = rand();
    srand48(time(NULL) + getppid());
    long third = lrand48();
    srandom(7);
    long fixed = random();
    unsigned device;
    int file = open("/dev/urandom", O_RDONLY);
    assert(read(file, &device, sizeof device) == sizeof device);
    close(file);
    printf("%d %d %ld %ld %u\n", first, second, third, fixed, device);
}

int main(void) {
    signal(SIGUSR1, handle);
    assert(gettid() == getpid() && syscall(SYS_getpid) == getpid() && syscall(SYS_getppid) == getppid());
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) assert(pthread_create(&threads[i], NULL, look_below, NULL) == 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    draw();
    return 0;
}
