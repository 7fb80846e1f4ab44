// A handler of SIGSEGV jumps out, three times; then a write with the thread's own stack.
// Events: three handlers of signal 11 begin and end; each writes its number to `caught`; the write
// of 9 to `after` is T0's own, and its stack is `note` and main alone.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf back;
static volatile int caught;
static int after;
static int *volatile nowhere;

static void handle(int signal) {
    (void)signal;
    caught++;
    siglongjmp(back, 1);
}

// Writes where the stack of calls shows.
static void note(int value) {
    after = value;
}

static void fall(void) {
    *nowhere = 1;
}

int main(void) {
    struct sigaction action = { .sa_handler = handle };
    sigaction(SIGSEGV, &action, NULL);
    for (volatile int i = 0; i < 3; i++)
        if (sigsetjmp(back, 1) == 0) fall();
    note(9);
    printf("%d %d\n", caught, after);
    return 0;
}
