// Two threads ask for a user each by `getpwuid`.
// Bug: both get the same structure, which the second call overwrites.
// Consequence: assertion
// The twin is getpwuid_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <pwd.h>
#include <stddef.h>

static unsigned id_of(unsigned id) {
    struct passwd *user = getpwuid(id);
    assert(user);
    return user->pw_uid;
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
