// Structures of 8, 24 and 200 bytes, copied as a whole.
// Events: each copy reads all bytes of the one and writes all bytes of the other; in one or in
// several accesses, as the compiler likes.
#include <stdio.h>

struct small { int x, y; };
struct middle { long a, b, c; };
struct large { int number[50]; };

// Not static: the compiler must not know that nobody changes them.
struct small small_from = { 1, 2 }, small_to;
struct middle middle_from = { 3, 4, 5 }, middle_to;
struct large large_from = { { 6, 7, 8 } }, large_to;

int main(void) {
    small_to = small_from;
    middle_to = middle_from;
    large_to = large_from;
    printf("%d %ld %d\n", small_to.y, middle_to.c, large_to.number[2]);
    return 0;
}
