// The functions of libc that touch texts.
// Events, in this order: strlen reads 6 bytes of `from`; strcpy reads 6 of `from` and writes 6 of
// `to`; strcat reads 6 of `to` and 3 of `more`, and writes 3 of `to` from byte 5; strncpy reads 6
// of `from` and writes 10 of `part`; strcmp reads `from` and `to` up to the first difference, 6
// bytes; strncmp reads 3 bytes of each; printf reads 8 bytes of `to` and 6 of `part`.
#include <stdio.h>
#include <string.h>

static char from[] = "hello", more[] = "!?", to[20], part[10];
static volatile size_t ten = 10, three = 3;

int main(void) {
    size_t length = strlen(from);
    strcpy(to, from);
    strcat(to, more);
    strncpy(part, from, ten);
    int order = strcmp(from, to) < 0;
    int same = strncmp(from, to, three) == 0;
    printf("%zu %s %s %d %d\n", length, to, part, order, same);
    return 0;
}
