// More functions of libc that touch texts.
// Events, in this order: strncat reads 6 bytes of `to`, 2 of `more` and writes 3 of `to` from byte 5;
// with more allowed than there is it reads 8 of `to`, all 4 of `more` and writes 4 from byte 7;
// stpcpy reads 4 of `more` and writes 4 of `part`; memchr reads 3 bytes of `from`, and 4 when it
// finds nothing; strchr reads 3 of `from`, and 6 when it finds nothing; strrchr reads 6 of `from`;
// strdup reads 6 of `from`, allocates 6 bytes and writes them; strndup reads 2 of `from`, allocates 3
// bytes and writes them; strndup with more allowed than there is reads 6 and writes 6. printf reads all of
// `to`, `part`, the parts of `from` that were found, and the copies.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char from[] = "hello", more[] = "!?.", to[20] = "abcde", part[10];
static volatile size_t two = 2, four = 4, nine = 9;
static volatile int l = 'l', z = 'z';

int main(void) {
    strncat(to, more, two);
    strncat(to, more, nine);
    char *end = stpcpy(part, more);
    char *found = memchr(from, l, four);
    char *no = memchr(from, z, four);
    char *first = strchr(from, l);
    char *none = strchr(from, z);
    char *last = strrchr(from, l);
    char *whole = strdup(from), *beginning = strndup(from, two), *all = strndup(from, nine);
    printf("%s %s %d\n", to, part, (int)(end - part));
    printf("%s %d %s %d %s\n", found, no == NULL, first, none == NULL, last);
    printf("%s %s %s\n", whole, beginning, all);
    free(whole);
    free(beginning);
    free(all);
    return 0;
}
