// What a program says about itself by norn.h; C and C++.
// Events: mark auth 7, mark use &user, three atomic regions of which one is left by `return`.
#include "norn.h"
#include <stdio.h>

static int user;
static volatile int shared;

static int leave(void) {
    NORN_ATOMIC {
        shared = 3;
        if (shared)
            return shared;
    }
    return 0;
}

int main(void) {
    NORN_EVENT("auth", 7);
    for (int i = 0; i < 2; i++)
        NORN_EVENT("use", &user);
    NORN_ATOMIC {
        shared = 1;
        NORN_ATOMIC_BEGIN();
        shared = 2;
        NORN_ATOMIC_END();
    }
    printf("%d\n", leave());
    return 0;
}
