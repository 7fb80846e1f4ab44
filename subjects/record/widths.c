// One variable of each width, written once and read once.
// Events, in this order: for each variable a write of the value below, then a read of the same;
// 1, 2, 4 and 8 bytes, signed and unsigned, floating point, a pointer and a flag.
#include <stdbool.h>
#include <stdio.h>

static unsigned char u1;
static signed char s1;
static unsigned short u2;
static short s2;
static unsigned u4;
static int s4;
static unsigned long u8;
static long s8;
static float f4;
static double f8;
static void *pointer;
static bool flag;

int main(void) {
    u1 = 0xa5;
    unsigned a = u1;
    s1 = -2;
    int b = s1;
    u2 = 0xa55a;
    a += u2;
    s2 = -300;
    b += s2;
    u4 = 0xdeadbeef;
    a += u4;
    s4 = -70000;
    b += s4;
    u8 = 0x0123456789abcdef;
    unsigned long c = u8;
    s8 = -5;
    long d = s8;
    f4 = 1.5f;
    float e = f4;
    f8 = -0.25;
    double f = f8;
    pointer = (void *)0x1000;
    void *g = pointer;
    flag = true;
    bool h = flag;
    printf("%u %d %lx %ld %g %g %p %d\n", a, b, c, d, (double)e, f, g, h);
    return 0;
}
