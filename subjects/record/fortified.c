// Functions that get to know how much room there is, as `-O2 -D_FORTIFY_SOURCE=2` makes them of others.
// Events on `from` and `to`, in this order: memset writes 20 bytes of `to`; memcpy reads 6 of `from`
// and writes 6 of `to`; memmove reads 6 of `to` and writes 6 from byte 2; strcpy reads 6 of `from` and
// writes 6 of `to`; strncpy reads 3 of `from` and writes 3 of `to`. Then, if there is an argument, memcpy
// has too little room, and libc ends the program.
#include <string.h>

char from[30] = "hello", to[20];
static volatile size_t six = 6, three = 3, twenty = 20;

int main(int count, char **arguments) {
    (void)arguments;
    memset(to, 0, twenty);
    memcpy(to, from, six);
    memmove(to + 2, to, six);
    strcpy(to, from);
    strncpy(to, from, three);
    if (count > 1) memcpy(to, from, twenty + six);
    return 0;
}
