// An inlined function from another file.
static inline __attribute__((always_inline)) int innermost(int x) {
    __asm__ volatile(".globl inner_mark\ninner_mark: nop"); // here: innermost
    return x + 1;
}
