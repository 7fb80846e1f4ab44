// Two threads split a line each by `strtok`.
// Bug: `strtok` remembers its position in a variable of libc, which both threads change.
// Consequence: assertion
// The twin is strtok_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <string.h>

static int words_of(char *line) {
    int words = 0;
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) words++;
    return words;
}

static void *work(void *argument) {
    char line[] = "one two three";
    assert(words_of(line) == 3);
    return argument;
}

int main(void) {
    pthread_t worker;
    char line[] = "one two";
    pthread_create(&worker, NULL, work, NULL);
    assert(words_of(line) == 2);
    pthread_join(worker, NULL);
    return 0;
}
