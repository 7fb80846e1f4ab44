// A thread fills in a price and sends its number through a pipe by `dprintf`, whose bytes no event contains. A
// relaxed counter is changed on both sides.
// Bug: the price is filled in after it was sent.
// Finds: race on price; assertion
// The twin is formatted_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int price[2];
static int on_the_way;
static int ends[2];

static void *buy(void *argument) {
    char number;
    int total = 0;
    for (int i = 0; i < 2; i++) {
        assert(read(ends[0], &number, 1) == 1);
        __atomic_fetch_sub(&on_the_way, 1, __ATOMIC_RELAXED);
        total += price[number - '0'];
    }
    assert(total == 30);
    return argument;
}

int main(void) {
    pthread_t buyer;
    assert(pipe(ends) == 0);
    pthread_create(&buyer, NULL, buy, NULL);
    for (int i = 0; i < 2; i++) {
#ifdef FIXED
        price[i] = 10 + 10 * i;
#endif
        __atomic_fetch_add(&on_the_way, 1, __ATOMIC_RELAXED);
        assert(dprintf(ends[1], "%d", i) == 1);
#ifndef FIXED
        price[i] = 10 + 10 * i;
#endif
    }
    pthread_join(buyer, NULL);
    return 0;
}
