// A thread prints a line by `puts` while another one changes it.
// Bug: nothing protects the line.
// Finds: race on line; none
// The twin is puts_fixed.c.
#include <pthread.h>
#include <stdio.h>

static char line[8] = "aaaa";

static void *print(void *argument) {
    puts(line);
    return argument;
}

int main(void) {
    pthread_t printer;
    pthread_create(&printer, NULL, print, NULL);
    line[0] = 'b';
    pthread_join(printer, NULL);
    return 0;
}
