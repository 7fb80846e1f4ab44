// A thread waits until a file is changed (`inotify`), and then uses the settings.
// Bug: the file is changed before the settings are complete.
// Finds: race on settings; assertion
// The twin is inotify_fixed.c.
#define _GNU_SOURCE
#undef NDEBUG
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

static int settings, watch;

static void *use(void *argument) {
    char event[256];
    assert(read(watch, event, sizeof event) > 0);
    assert(settings == 7);
    return argument;
}

int main(void) {
    char folder[] = "settings-XXXXXX";
    pthread_t user;
    assert(mkdtemp(folder) != NULL && chdir(folder) == 0);
    int file = open("file", O_CREAT | O_WRONLY, 0600);
    watch = inotify_init1(0);
    assert(inotify_add_watch(watch, "file", IN_MODIFY) >= 0);
    pthread_create(&user, NULL, use, NULL);
    assert(write(file, "changed", 7) == 7);
    settings = 7;
    pthread_join(user, NULL);
    unlink("file");
    return 0;
}
