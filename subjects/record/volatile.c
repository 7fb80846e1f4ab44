// Volatile variables of each width.
// Events: for each a write and a read with the value below, all marked volatile; the last
// variable is not volatile and its events are not.
#include <stdio.h>

static volatile unsigned char one;
static volatile unsigned short two;
static volatile unsigned four;
static volatile unsigned long eight;
static unsigned plain;

int main(void) {
    one = 0x11;
    unsigned long sum = one;
    two = 0x2222;
    sum += two;
    four = 0x44444444;
    sum += four;
    eight = 0x8888888888888888;
    sum += eight;
    plain = 7;
    sum += plain;
    printf("%lx\n", sum);
    return 0;
}
