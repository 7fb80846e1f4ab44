// A thread prints a line by `printf` while another one changes it.
// Bug: nothing protects the line.
// Finds: race on line; none
// The twin is printf_fixed.c.
#include <pthread.h>
#include <stdio.h>

static char line[8] = "aaaa";

static void *print(void *argument) {
    printf("%5d %.3f %s\n", 1, 0.5, line);
    return argument;
}

int main(void) {
    pthread_t printer;
    pthread_create(&printer, NULL, print, NULL);
    line[0] = 'b';
    pthread_join(printer, NULL);
    return 0;
}
