// Gives up its rights as a daemon does: changes its root to the folder that is the first argument,
// then becomes another user; goes on in two threads.
// Events: writes of 1 and 2 to `step` around it, one of 3 by T0.1 after it.
#define _GNU_SOURCE
#include <grp.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int step;

static void *run(void *unused) {
    step = 3;
    return unused;
}

int main(int argc, char **argument) {
    pthread_t thread;
    if (argc < 2) return 2;
    step = 1;
    int failed = chroot(argument[1]) != 0;
    failed += chdir("/") != 0;
    failed += setgroups(0, NULL) != 0;
    failed += setgid(65534) != 0;
    failed += setuid(65534) != 0;
    step = 2;
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    printf("%d %d %d\n", failed, (int)getuid(), step);
    return failed;
}
