// The twin of getpwuid.c: two threads ask for a user each.
// Each thread has a structure of its own.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <pwd.h>
#include <stddef.h>

static unsigned id_of(unsigned id) {
    struct passwd user, *found = NULL;
    char text[1024];
    assert(getpwuid_r(id, &user, text, sizeof text, &found) == 0 && found);
    return found->pw_uid;
}

static void *work(void *argument) {
    assert(id_of(1) == 1);
    return argument;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    assert(id_of(0) == 0);
    pthread_join(worker, NULL);
    return 0;
}
