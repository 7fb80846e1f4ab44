// Every atomic operation on 16 bytes. Values have different halves, so that a lost one shows.
// Events on the variable, in this order, with H = 1 << 64: store 3H+100 (release), load 3H+100
// (acquire), exchange 3H+100 -> 5H+5 (acq_rel), add 5H+5 -> 6H+8 (relaxed), sub 6H+8 -> 4H+6
// (seq_cst), and 4H+6 -> 4H+2 (acquire), or 4H+2 -> 12H+10 (release), xor 12H+10 -> 13H+9
// (relaxed), a compare-exchange that succeeds 13H+9 -> 7H+7 (acq_rel), one that fails, seeing
// 7H+7, expecting 1 (seq_cst).
#include <stdio.h>

typedef unsigned __int128 wide;
static wide variable __attribute__((aligned(16)));

static wide make(unsigned long high, unsigned long low) {
    return (wide)high << 64 | low;
}

static void print(wide value) {
    printf("%lu:%lu\n", (unsigned long)(value >> 64), (unsigned long)value);
}

int main(void) {
    __atomic_store_n(&variable, make(3, 100), __ATOMIC_RELEASE);
    print(__atomic_load_n(&variable, __ATOMIC_ACQUIRE));
    print(__atomic_exchange_n(&variable, make(5, 5), __ATOMIC_ACQ_REL));
    print(__atomic_fetch_add(&variable, make(1, 3), __ATOMIC_RELAXED));
    print(__atomic_fetch_sub(&variable, make(2, 2), __ATOMIC_SEQ_CST));
    print(__atomic_fetch_and(&variable, make(7, 3), __ATOMIC_ACQUIRE));
    print(__atomic_fetch_or(&variable, make(8, 8), __ATOMIC_RELEASE));
    print(__atomic_fetch_xor(&variable, make(1, 3), __ATOMIC_RELAXED));
    wide expected = make(13, 9);
    printf("%d\n", __atomic_compare_exchange_n(&variable, &expected, make(7, 7), 0, __ATOMIC_ACQ_REL,
                                               __ATOMIC_RELAXED));
    expected = 1;
    printf("%d\n", __atomic_compare_exchange_n(&variable, &expected, make(3, 3), 0, __ATOMIC_SEQ_CST,
                                               __ATOMIC_ACQUIRE));
    print(expected);
    return 0;
}
