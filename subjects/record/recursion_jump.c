// 20,000 calls deep, then a jump back to a depth of 10,000, then back.
// Events: a write of 1 to `after`, with the stack of `note`, `middle` and main alone.
#include <setjmp.h>
#include <stdio.h>

static jmp_buf halfway;
static int after, jumped;

// Writes where the stack of calls shows.
static void note(int value) {
    after = value;
}

static int dive(int depth) {
    if (depth == 20000) longjmp(halfway, 1);
    if (depth == 10000 && setjmp(halfway) != 0) {
        jumped = 1;
        return 1;
    }
    return dive(depth + 1) + 1;
}

// A frame that must still be there afterwards.
static int middle(void) {
    int reached = dive(1);
    note(1);
    return reached;
}

int main(void) {
    int reached = middle();
    printf("%d %d\n", reached, jumped);
    return 0;
}
