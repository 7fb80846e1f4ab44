// Fields of a packed structure, none of which is aligned; one lies across two pages.
// Events: a write and a read of each of two, four and eight bytes at odd addresses, with the
// values below; and the same of the field across pages, whose values may be unknown.
#include <stdio.h>
#include <string.h>

struct __attribute__((packed)) odd {
    char first;
    unsigned short two;
    unsigned four;
    unsigned long eight;
};

struct __attribute__((packed)) edge {
    char before[4093];
    unsigned long across;
};

static struct odd odd;
static struct edge edge __attribute__((aligned(4096)));

int main(void) {
    odd.two = 0x1234;
    unsigned two = odd.two;
    odd.four = 0x89abcdef;
    unsigned four = odd.four;
    odd.eight = 0x1122334455667788;
    unsigned long eight = odd.eight;
    edge.across = 0x99aabbccddeeff00;
    unsigned long across = edge.across;
    printf("%x %x %lx %lx\n", two, four, eight, across);
    return 0;
}
