// Jumps out of nested calls by each of the functions that jump.
// Events: writes to `after` of 1, 2 and 3, each with the stack of `jump`, called by main, and nothing
// of the frames that were left.
#include <setjmp.h>
#include <stdio.h>

static jmp_buf plain, under;
static sigjmp_buf with_signals;
static volatile int deepest;
static int after;

static void dive(int depth, int how) {
    if (depth == 0) {
        deepest++;
        if (how == 1) longjmp(plain, 1);
        if (how == 2) _longjmp(under, 1);
        siglongjmp(with_signals, 1);
    }
    dive(depth - 1, how);
}

static void jump(int how) {
    int back = how == 1 ? setjmp(plain) : how == 2 ? _setjmp(under) : sigsetjmp(with_signals, 1);
    if (back == 0) dive(20, how);
    after = how;
}

int main(void) {
    jump(1);
    jump(2);
    jump(3);
    printf("%d %d\n", deepest, after);
    return 0;
}
