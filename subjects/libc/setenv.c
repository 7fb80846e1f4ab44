// A thread sets a variable of the environment while another one looks one up.
// Bug: libc does not protect the environment against that.
// Finds: race on __environ; none
// The twin is setenv_fixed.c.
#include <pthread.h>
#include <stdlib.h>

static void *configure(void *argument) {
    setenv("NORN_SUBJECT", "1", 1);
    return argument;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, configure, NULL);
    int found = getenv("PATH") != NULL;
    pthread_join(worker, NULL);
    return found ? 0 : 1;
}
