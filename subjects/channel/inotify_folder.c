// A thread waits until a file is moved into a folder (`inotify`), and then uses the letter.
// Bug: the file is moved before the letter is written.
// Finds: race on letter; assertion
// The twin is inotify_folder_fixed.c.
#define _GNU_SOURCE
#undef NDEBUG
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

static int letter, watch;

static void *collect(void *argument) {
    char event[256];
    struct pollfd awaited = {watch, POLLIN, 0};
    assert(poll(&awaited, 1, -1) == 1);
    assert(read(watch, event, sizeof event) > 0);
    assert(letter == 1);
    return argument;
}

int main(void) {
    char folder[] = "postbox-XXXXXX";
    pthread_t collector;
    assert(mkdtemp(folder) != NULL && chdir(folder) == 0);
    watch = inotify_init();
    assert(inotify_add_watch(watch, ".", IN_MOVED_TO) >= 0);
    pthread_create(&collector, NULL, collect, NULL);
    close(open("draft", O_CREAT | O_WRONLY, 0600));
    assert(rename("draft", "letter") == 0);
    letter = 1;
    pthread_join(collector, NULL);
    unlink("letter");
    return 0;
}
