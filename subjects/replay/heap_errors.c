// What is wrong with the heap is the number of arguments: without any, a block is used that the
// other thread has freed; with one, it is freed again; with two, its end is not kept.
#include <pthread.h>
#include <stdlib.h>

enum { USE = 1, FREE, BEYOND };

static char *block;
static int error;

static char *make(void) {
    return malloc(16); // make
}

static void give_back(void) {
    free(block); // free
}

static void *drop(void *arg) {
    if (error == BEYOND)
        block[18] = 'x'; // beyond
    else
        give_back(); // drop
    return arg;
}

int main(int argc, char **argv) {
    pthread_t thread;
    (void)argv;
    error = argc;
    block = make();
    pthread_create(&thread, NULL, drop, NULL);
    pthread_join(thread, NULL);
    if (error == USE) block[3] = 'x';   // use
    if (error == FREE) give_back();     // again
    return 0;
}
