// The twin of strtok.c: two threads split a line each.
// Each thread has a position of its own.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <string.h>

static int words_of(char *line) {
    int words = 0;
    char *rest = NULL;
    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) words++;
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
