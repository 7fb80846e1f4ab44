// T0.2 writes to a variable on the stack of T0.1, which then ends and is joined; that stack is so large
// that libc unmaps it at once. They talk by pipes, which leave no events.
// Events: the write of 1 by T0.2, and its write of 2 to `after`. The program must not crash.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ready[2], end[2], wrote[2], gone[2];
static int after;
static int *lent;

__attribute__((no_sanitize("thread"))) static void say(const int *pipe) {
    if (write(pipe[1], "", 1) != 1) _exit(9);
}

__attribute__((no_sanitize("thread"))) static void hear(const int *pipe) {
    char byte;
    if (read(pipe[0], &byte, 1) != 1) _exit(9);
}

static void *lend(void *unused) {
    int local = 0;
    lent = &local;
    say(ready);
    hear(end);
    return unused;
}

static void *write_there(void *unused) {
    int *theirs = lent;
    *theirs = 1;
    say(wrote);
    hear(gone);
    after = 2;
    return unused;
}

int main(void) {
    pthread_t lender, writer;
    pthread_attr_t large;
    if (pipe(ready) + pipe(end) + pipe(wrote) + pipe(gone) != 0) return 1;
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, 64 << 20);
    pthread_create(&lender, &large, lend, NULL);
    hear(ready);
    pthread_create(&writer, NULL, write_there, NULL);
    hear(wrote);
    say(end);
    pthread_join(lender, NULL);
    say(gone);
    pthread_join(writer, NULL);
    printf("%d\n", after);
    return 0;
}
