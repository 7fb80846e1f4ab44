// The twin of daemon.c: a program that leaves its work to a child, whose workers count what they have
// done. They count with a lock, so that none is forgotten.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    done++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void serve(void) {
    pthread_t workers[2];
    for (int i = 0; i < 2; i++) pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(workers[i], NULL);
    assert(done == 2);
}

int main(void) {
    pid_t child = fork();
    if (child == 0) {
        serve();
        return 0;
    }
    int status;
    waitpid(child, &status, 0);
    return status == 0 ? 0 : 1;
}
