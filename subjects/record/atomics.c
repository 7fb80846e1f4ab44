// Every atomic operation on integers of 1, 2, 4 and 8 bytes.
// Events on each of the four variables, in this order: store 100 (release), load 100 (acquire),
// exchange 100 -> 5 (acq_rel), add 5 -> 8 (relaxed), sub 8 -> 6 (seq_cst), and 6 -> 2 (acquire),
// or 2 -> 10 (release), xor 10 -> 9 (relaxed), nand 9 -> ~1 (relaxed), a compare-exchange that
// succeeds ~1 -> 7 (acq_rel), one that fails, seeing 7, expecting 1 (seq_cst), a load 7 (relaxed),
// a load 7 (seq_cst).
#include <stdio.h>

static unsigned char a1;
static unsigned short a2;
static unsigned a4;
static unsigned long a8;

#define ALL(type, variable)                                                                      \
    do {                                                                                         \
        type expected;                                                                           \
        __atomic_store_n(&variable, 100, __ATOMIC_RELEASE);                                      \
        unsigned long sum = __atomic_load_n(&variable, __ATOMIC_ACQUIRE);                        \
        sum += __atomic_exchange_n(&variable, 5, __ATOMIC_ACQ_REL);                              \
        sum += __atomic_fetch_add(&variable, 3, __ATOMIC_RELAXED);                               \
        sum += __atomic_fetch_sub(&variable, 2, __ATOMIC_SEQ_CST);                               \
        sum += __atomic_fetch_and(&variable, 3, __ATOMIC_ACQUIRE);                               \
        sum += __atomic_fetch_or(&variable, 8, __ATOMIC_RELEASE);                                \
        sum += __atomic_fetch_xor(&variable, 3, __ATOMIC_RELAXED);                               \
        sum += __atomic_fetch_nand(&variable, 1, __ATOMIC_RELAXED);                              \
        expected = (type)~(type)1;                                                               \
        sum += __atomic_compare_exchange_n(&variable, &expected, 7, 0, __ATOMIC_ACQ_REL,         \
                                           __ATOMIC_RELAXED);                                    \
        expected = 1;                                                                            \
        sum += __atomic_compare_exchange_n(&variable, &expected, 3, 0, __ATOMIC_SEQ_CST,         \
                                           __ATOMIC_ACQUIRE);                                    \
        sum += expected;                                                                         \
        sum += __atomic_load_n(&variable, __ATOMIC_RELAXED);                                     \
        sum += __atomic_load_n(&variable, __ATOMIC_SEQ_CST);                                     \
        printf("%lu\n", sum);                                                                    \
    } while (0)

int main(void) {
    ALL(unsigned char, a1);
    ALL(unsigned short, a2);
    ALL(unsigned, a4);
    ALL(unsigned long, a8);
    return 0;
}
