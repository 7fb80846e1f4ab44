// The older atomic builtins of gcc.
// Events on `word`: add 0 -> 2, sub 2 -> 1, compare-exchange 1 -> 5, a failed one that sees 5,
// exchange 5 -> 9 (acquire), store 0 (release); then a fence (seq_cst).
#include <stdio.h>

static int word;

int main(void) {
    int sum = __sync_fetch_and_add(&word, 2);
    sum += __sync_sub_and_fetch(&word, 1);
    sum += __sync_bool_compare_and_swap(&word, 1, 5);
    sum += __sync_val_compare_and_swap(&word, 4, 6);
    sum += __sync_lock_test_and_set(&word, 9);
    __sync_lock_release(&word);
    __sync_synchronize();
    printf("%d\n", sum);
    return 0;
}
