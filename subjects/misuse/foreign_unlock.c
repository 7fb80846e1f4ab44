// A door is locked by a visitor, and unlocked when the visitor leaves; the host checks the door.
// Bug: the host unlocks the door if it finds it locked, although the visitor has locked it.
// Consequence: misuse, if the visitor is inside when the host checks.
// The twin is foreign_unlock_fixed.c.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static int locked, visits;

static void leave(void) {
    pthread_mutex_lock(&state);
    int open = locked;
    locked = 0;
    pthread_mutex_unlock(&state);
    if (open) pthread_mutex_unlock(&door);
}

static void *visit(void *unused) {
    pthread_mutex_lock(&door);
    pthread_mutex_lock(&state);
    locked = 1;
    pthread_mutex_unlock(&state);
    visits++;
    leave();
    return unused;
}

int main(void) {
    pthread_t visitor;
    if (pthread_create(&visitor, NULL, visit, NULL) != 0) return 2;
    leave();
    pthread_join(visitor, NULL);
    printf("%d\n", visits);
    return 0;
}
