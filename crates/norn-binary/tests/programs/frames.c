// Three functions in one instruction: the mark is assembled into `outer`.
#include "frames.h"

__attribute__((noinline)) int plain(int x) {
    __asm__ volatile(".globl plain_mark\nplain_mark: nop"); // here: plain
    return x;
}

static inline __attribute__((always_inline)) int middle(int x) {
    return innermost(x) * 2; // here: middle
}

__attribute__((noinline)) int outer(int x) {
    return middle(x) + 3; // here: outer
}

int main(int argc, char **argv) {
    (void)argv;
    return outer(argc) + plain(argc);
}
