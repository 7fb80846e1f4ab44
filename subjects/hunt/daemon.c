// A program that leaves its work to a child, as servers do: the parent starts it, waits, and ends
// as it did. The child has workers that count what they have done.
// Bug: they count without a lock, and one may be forgotten.
// Finds: race on done; assertion
// The twin is daemon_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int done;

static void *work(void *unused) {
    (void)unused;
    done++;
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
