// Two stacks in one thread, switched by swapcontext: no hook sees the switch.
// Events: writes of 1, 2, 3, 4 to `turn`, alternately by `main` and by `other`.
#include <stdio.h>
#include <ucontext.h>

static ucontext_t first, second;
static char stack[65536];
static int turn;

static void other(void) {
    turn = 2;
    swapcontext(&second, &first);
    turn = 4;
}

int main(void) {
    getcontext(&second);
    second.uc_stack.ss_sp = stack;
    second.uc_stack.ss_size = sizeof stack;
    second.uc_link = &first;
    makecontext(&second, other, 0);
    turn = 1;
    swapcontext(&first, &second);
    turn = 3;
    swapcontext(&first, &second);
    printf("%d\n", turn);
    return 0;
}
