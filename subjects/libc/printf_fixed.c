// The twin of printf.c: a thread prints a line by `printf` while another one changes it.
// A lock protects the line.
// Finds: nothing harmful
#include <pthread.h>
#include <stdio.h>

static char line[8] = "aaaa";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *print(void *argument) {
    pthread_mutex_lock(&lock);
    printf("%5d %.3f %s\n", 1, 0.5, line);
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_t printer;
    pthread_create(&printer, NULL, print, NULL);
    pthread_mutex_lock(&lock);
    line[0] = 'b';
    pthread_mutex_unlock(&lock);
    pthread_join(printer, NULL);
    return 0;
}
