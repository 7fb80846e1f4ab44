// A thread writes the id of its process to a variable, which main prints: no run is like another.
// With an argument, main then sleeps for ever, in a child too.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static long id;

static void *look(void *unused) {
    id = getpid();
    return unused;
}

int main(int count, char **words) {
    (void)words;
    pthread_t thread;
    if (pthread_create(&thread, NULL, look, NULL) != 0) return 2;
    pthread_join(thread, NULL);
    printf("%ld\n", id);
    fflush(stdout);
    if (count > 1) {
        fork();
        for (;;) pause();
    }
    return 0;
}
