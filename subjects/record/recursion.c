// 20,000 calls deep, and back; twice.
// Events: a write of 20,000 to `bottom` at the depth of 20,000 calls of `dive`; a write of 1 to
// `after`, with the stack of `note` and main alone.
#include <stdio.h>

static int bottom, after;

// Writes where the stack of calls shows.
static void note(int value) {
    after = value;
}

static int dive(int depth) {
    if (depth == 20000) {
        bottom = depth;
        return 1;
    }
    return dive(depth + 1) + 1;
}

int main(void) {
    int reached = dive(1);
    reached += dive(1);
    note(1);
    printf("%d\n", reached);
    return 0;
}
