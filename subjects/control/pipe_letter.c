// A receiver waits in a pipe for the word that its letter is there.
// Bug: the byte is written before the letter.
// Consequence: assertion, the receiver sees no letter.
// The twin, pipe_letter_fixed.c, never fails.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int mail[2];
static int letter;

static void *receive(void *unused) {
    char bell;
    if (read(mail[0], &bell, 1) != 1) return unused;
    int seen = letter; /* B1 */
    assert(seen == 7);
    return unused;
}

int main(void) {
    pthread_t receiver;
    if (pipe(mail) != 0) return 2;
    if (pthread_create(&receiver, NULL, receive, NULL) != 0) return 2;
    if (write(mail[1], "x", 1) != 1) return 2;
    letter = 7; /* A1 */
    pthread_join(receiver, NULL);
    puts("received");
    return 0;
}
