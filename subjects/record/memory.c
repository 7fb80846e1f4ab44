// The functions of libc that touch blocks of memory.
// Events, in this order: memset writes 100 bytes of `to`; memcpy reads 100 bytes of `from` and
// writes 100 of `to`; memmove reads 50 bytes of `to` at 0 and writes 50 at 10; memcmp reads the
// bytes of both up to the first difference, which is the 11th; printf reads 20 bytes of `to`.
#include <stdio.h>
#include <string.h>

static char from[100] = "0123456789abcdefghijklmnopqrstuvwxyz", to[100];
static volatile size_t all = 100, half = 50;

int main(void) {
    memset(to, 'x', all);
    memcpy(to, from, all);
    memmove(to + 10, to, half);
    int differs = memcmp(from, to, all);
    printf("%.20s %d\n", to, differs > 0);
    return 0;
}
