// The twin of fclose.c: a thread writes a line to a stream that the first thread closes.
// The first thread joins the other one first.
// Finds: nothing harmful
#include <pthread.h>
#include <stdio.h>

static FILE *stream;

static void *work(void *argument) {
    fputs("a line\n", stream);
    return argument;
}

int main(void) {
    pthread_t worker;
    stream = tmpfile();
    pthread_create(&worker, NULL, work, NULL);
    pthread_join(worker, NULL);
    fclose(stream);
    return 0;
}
