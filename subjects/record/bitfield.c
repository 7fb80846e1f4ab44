// Fields smaller than a byte.
// Events: each assignment reads the word that holds the field and writes it back; the last write
// leaves a = 5, b = 9, c = 0xabcdef in it: 0xabcdef4d. Compilers choose the width.
#include <stdio.h>

static struct {
    unsigned a : 3;
    unsigned b : 5;
    unsigned c : 24;
} fields;

int main(void) {
    fields.a = 5;
    fields.b = 9;
    fields.c = 0xabcdef;
    printf("%u %u %x\n", fields.a, fields.b, fields.c);
    return 0;
}
