/* Functions that fail if a shared read sees an unexpected value. A comment at the end of a line names it. */
#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

struct node {
    int key;
    struct node *next;
    int values[8];
};

int total, first, second, unrelated, mode, limit;
struct node *head;
atomic_int ready;

NOINLINE int sum(void) {
    int ignored = unrelated; // unrelated
    int a = first; // first
    int b = second; // second
    assert(total == a + b); // assertion
    return ignored;
}

NOINLINE int get_total(void) {
    return total; // returned
}

NOINLINE void check_result(void) {
    if (get_total() > 3)
        abort(); // abort after call
}

NOINLINE void guard(int value) {
    if (value == 3)
        abort(); // abort on argument
}

NOINLINE void pass_total(void) {
    guard(total); // passed
}

// Without hooks the argument stays in its register.
__attribute__((no_sanitize("thread"))) NOINLINE int descend(int value, int depth) {
    if (value == 4)
        abort(); // abort in recursion
    return depth > 0 ? descend(value, depth - 1) ^ depth : 0;
}

NOINLINE void pass_to_recursion(void) {
    descend(total, 3); // passed to recursion
}

NOINLINE void fail(const char *text) {
    fprintf(stderr, "failed: %s\n", text); // message
    exit(1); // exit
}

NOINLINE void fail_if_negative(void) {
    if (limit < 0) // negative
        fail("limit");
}

NOINLINE void print(void) {
    printf("%d\n", total); // printed
}

NOINLINE void wait_for_flag(void) {
    while (!atomic_load(&ready)) // flag
        ;
}

NOINLINE int wait_for_mode(int volatile *state) {
    int rounds = 0;
    while (*state != 3) // mode
        rounds++;
    return rounds;
}

NOINLINE int count_to_ten(int volatile *out) {
    int seen = 0;
    for (int i = 0; i < 10; i++) // private loop
        seen += *out; // in private loop
    return seen;
}

/* A loop with two entries. */
NOINLINE int jump_into_loop(int inside, int volatile *state) {
    int rounds = 0;
    if (inside)
        goto middle;
again:
    rounds++;
middle:
    rounds += 2;
    if (*state != 5) // irreducible
        goto again;
    return rounds;
}

NOINLINE int choose(void) {
    switch (mode) { // choice
    case 0: return first;
    case 1: puts("one"); return 4; // one
    case 2: abort(); // abort in case
    case 3: return second;
    case 4: return total + 1;
    case 5: return 77;
    case 6: puts("six"); return 1; // six
    case 7: return limit;
    default: return 0;
    }
}

NOINLINE int follow(void) {
    struct node *next = head->next; // next
    int index = total; // index
    return next->values[index]; // element
}

NOINLINE int divide(int by) {
    int divisor = limit; // divisor
    return by / divisor; // division
}

NOINLINE void release(void) {
    struct node *old = head; // old
    free(old); // free
}

NOINLINE void through_locals(void) {
    int equal = first == second; // compared
    int copy = equal;
    int volatile slot = copy;
    if (!slot)
        abort(); // abort on local
}

NOINLINE void check_rounds(int rounds) {
    for (int round = 0; round < rounds; round++) {
        int now = total; // in each round
        assert(now == 3); // assertion in each round
    }
}

NOINLINE void call_all(void) {
    sum();
    check_result();
    pass_total();
    pass_to_recursion();
    fail_if_negative();
    print();
    wait_for_flag();
    wait_for_mode(&mode);
    count_to_ten(&mode);
    jump_into_loop(first, &mode);
    choose();
    follow();
    divide(total);
    release();
    through_locals();
    check_rounds(mode);
}

int main(void) {
    call_all();
    if (total == 5) // status
        return 2;
    return 0;
}
