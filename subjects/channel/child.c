// A worker adds to a total when a child process has ended.
// Bug: the first thread adds after it has let the worker go on, so that one of the two may be
// lost.
// Finds: race on total; assertion
// The twin is child_fixed.c.
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
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert(child > 0);
    add();
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
