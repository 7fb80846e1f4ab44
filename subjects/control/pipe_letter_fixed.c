// The twin of pipe_letter.c: a receiver waits in a pipe for the word that its letter is there.
// The letter is there before the byte is written.
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
    int seen = letter;
    assert(seen == 7);
    return unused;
}

int main(void) {
    pthread_t receiver;
    if (pipe(mail) != 0) return 2;
    if (pthread_create(&receiver, NULL, receive, NULL) != 0) return 2;
    letter = 7;
    if (write(mail[1], "x", 1) != 1) return 2;
    pthread_join(receiver, NULL);
    puts("received");
    return 0;
}
