// The twin of child.c: a worker adds to a total when a child process has ended.
// The first thread adds before that: a process is created before its end is waited for.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static int total;

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    while (waitpid(-1, NULL, 0) < 0)
        sched_yield();
    add();
    return argument;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    add();
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert(child > 0);
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
