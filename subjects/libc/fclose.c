// A thread writes a line to a stream that the first thread closes.
// Bug: the first thread closes it before it joins the other one.
// Finds: lifetime on IO_FILE; use after free
// The twin is fclose_fixed.c.
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
    fclose(stream);
    pthread_join(worker, NULL);
    return 0;
}
