// A lock in inline assembly, beside code without one.
static int word;
static int counter;
static int other;

static inline int exchange(int *at, int value) {
    __asm__ volatile("xchgl %0, %1" : "+r"(value), "+m"(*at) : : "memory"); // exchange
    return value;
}

__attribute__((noinline)) void acquire(void) {
    while (exchange(&word, 1) != 0) // acquire
        __asm__ volatile("pause");
}

__attribute__((noinline)) void release(void) {
    exchange(&word, 0); // release
}

__attribute__((noinline)) void guarded(void) {
    acquire();
    counter++;
    release();
}

__attribute__((noinline)) void bare(void) {
    other++;
}

int main(void) {
    guarded();
    bare();
    return counter - other;
}
