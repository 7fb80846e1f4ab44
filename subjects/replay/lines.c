// Prints what it reads from standard input: a line by stdio, the rest by itself.
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char text[64];
    setvbuf(stdin, NULL, _IONBF, 0);
    if (!fgets(text, sizeof text, stdin)) return 2;
    printf("first %s", text);
    ssize_t len = read(0, text, sizeof text);
    printf("then %zd: %.*s", len, (int)(len < 0 ? 0 : len), text);
    return 0;
}
