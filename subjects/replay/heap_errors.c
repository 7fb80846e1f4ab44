// What is wrong with the heap is the first argument: `use` or `free` a block that the other thread
// has freed, or go `beyond` its end.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char *block;
static const char *error;

static char *make(void) {
    return malloc(16); // make
}

static void give_back(void) {
    free(block); // free
}

static void *drop(void *arg) {
    if (strcmp(error, "beyond") == 0)
        block[18] = 'x'; // beyond
    else
        give_back(); // drop
    return arg;
}

int main(int argc, char **argv) {
    pthread_t thread;
    error = argc > 1 ? argv[1] : "use";
    block = make();
    pthread_create(&thread, NULL, drop, NULL);
    pthread_join(thread, NULL);
    if (strcmp(error, "use") == 0) block[3] = 'x'; // use
    if (strcmp(error, "free") == 0) give_back();   // again
    return 0;
}
